import type { GrpcHealthAnswer, GrpcHealthCheck } from '#wire/health/grpc-health.ts';
import type { ProbeOutcome } from './run-probe.ts';

/** Upstream's words for what a health service says, or why it could not be asked. */
export function grpcOutcome(answer: GrpcHealthAnswer, check: Pick<GrpcHealthCheck, 'host' | 'port' | 'timeoutMs'>): ProbeOutcome {
  const address = `${check.host.includes(':') ? `[${check.host}]` : check.host}:${check.port}`;
  const limit = `${check.timeoutMs / 1000}s`;
  switch (answer.kind) {
    case 'answered':
      if (answer.status === 'SERVING') return { kind: 'success' };
      return { kind: 'failure', output: `service unhealthy (responded with "${answer.status}")` };
    case 'not-connected':
      return { kind: 'failure', output: `timeout: failed to connect service "${address}" within ${limit}: context deadline exceeded` };
    case 'not-implemented':
      return { kind: 'failure', output: `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${answer.detail}` };
    case 'timed-out':
      return { kind: 'failure', output: `timeout: health rpc did not complete within ${limit}` };
    case 'failed':
      return { kind: 'failure', output: `error: health rpc probe failed: ${answer.detail}` };
  }
}
