import type { GrpcHealthAnswer, GrpcHealthCheck } from '#wire/health/grpc-health.ts';
import type { HttpGet, HttpGot } from '#wire/http/client.ts';

/** How probes reach what they probe. Each throws what cannot be reached as an `AppError` with a text for the event. */
export interface ProbersPort {
  httpGet(get: HttpGet, signal: AbortSignal): Promise<HttpGot>;
  tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void>;
  grpcHealth(check: GrpcHealthCheck, signal: AbortSignal): Promise<GrpcHealthAnswer>;
}
