import type { Clock } from '#base/clock.ts';
import { grpcHealth } from '#wire/health/grpc-health.ts';
import { tcpConnect } from '#wire/health/tcp-connect.ts';
import { httpGet } from '#wire/http/client.ts';
import type { HttpGetPort } from '../ports/http-get.ts';
import type { ProbersPort } from '../ports/probers.ts';

/** Probes over the node's real network. */
export function networkProbers(clock: Clock): ProbersPort {
  return { httpGet, tcpConnect, grpcHealth: (check, signal) => grpcHealth(check, clock, signal) };
}

/** The GET of lifecycle hooks over the node's real network. */
export const networkHttpGet: HttpGetPort = {
  async get(request, signal) {
    // Only the status counts.
    return (await httpGet({ ...request, maxBodyBytes: 0 }, signal)).status;
  },
};
