import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Client, credentials, status as grpcCode, Metadata, type ServiceError } from '@grpc/grpc-js';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';

export interface GrpcHealthCheck {
  readonly host: string;
  readonly port: number;
  /** '' for the server as a whole. */
  readonly service: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** What the server says, or which part of asking it failed. */
export type GrpcHealthAnswer =
  | { readonly kind: 'answered'; readonly status: 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN' }
  | { readonly kind: 'not-connected' | 'not-implemented' | 'timed-out' | 'failed'; readonly detail: string };

/** One `grpc.health.v1.Health/Check` on a connection of its own, without TLS. Throws only what the signal was aborted with. */
export async function grpcHealth(check: GrpcHealthCheck, clock: Clock, signal: AbortSignal): Promise<GrpcHealthAnswer> {
  throwIfAborted(signal);
  const address = `${check.host.includes(':') ? `[${check.host}]` : check.host}:${check.port}`;
  const deadline = new Date(clock.now() + check.timeoutMs);
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.primary_user_agent': check.userAgent,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.service_config_disable_resolution': 1,
  });
  let forget: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(reasonOf(signal)));
  });
  try {
    return await Promise.race([ask(client, check, deadline), aborted]);
  } finally {
    forget();
    client.close();
  }
}

const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
const method = '/grpc.health.v1.Health/Check';

async function ask(client: Client, check: GrpcHealthCheck, deadline: Date): Promise<GrpcHealthAnswer> {
  const problem = await new Promise<Error | undefined>((resolve) => client.waitForReady(deadline, resolve));
  if (problem !== undefined) return { kind: 'not-connected', detail: problem.message };
  return await new Promise((resolve) => {
    client.makeUnaryRequest(method, encodeRequest, decodeStatus, check.service, new Metadata(), { deadline }, (error, value) => {
      resolve(error === null ? { kind: 'answered', status: statuses[value ?? 0] ?? 'UNKNOWN' } : refusal(error));
    });
  });
}

function refusal(error: ServiceError): GrpcHealthAnswer {
  if (error.code === grpcCode.UNIMPLEMENTED) return { kind: 'not-implemented', detail: error.details };
  if (error.code === grpcCode.DEADLINE_EXCEEDED) return { kind: 'timed-out', detail: error.details };
  return { kind: 'failed', detail: `rpc error: code = ${codeName(error.code)} desc = ${error.details}` };
}

/** `NOT_FOUND` as Go prints it: `NotFound`. */
function codeName(code: number): string {
  const name = grpcCode[code] ?? String(code);
  return name.toLowerCase().replace(/(^|_)([a-z])/g, (_, _gap, letter: string) => letter.toUpperCase());
}

/** `HealthCheckRequest { string service = 1; }` */
function encodeRequest(service: string): Buffer {
  const writer = new BinaryWriter();
  if (service !== '') writer.uint32(10).string(service);
  return Buffer.from(writer.finish());
}

/** `HealthCheckResponse { ServingStatus status = 1; }` */
function decodeStatus(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let status = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 8) status = reader.int32();
    else reader.skip(tag & 7);
  }
  return status;
}
