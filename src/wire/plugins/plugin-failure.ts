import { status as grpcCode } from '@grpc/grpc-js';
import { AppError, type RetryClass } from '#base/errors.ts';
import { GrpcFailure } from '../grpc/failure.ts';

/** A plugin that refused, or could not be reached; in the words of Go's gRPC library, which upstream shows to people. */
export class PluginFailed extends AppError {
  readonly code = 'PLUGIN_FAILED';
  readonly retry: RetryClass;

  constructor(failure: GrpcFailure) {
    super({ message: `rpc error: code = ${goName(failure.status)} desc = ${failure.details}`, cause: failure });
    this.retry = failure.retry;
  }
}

/** @throws {PluginFailed} for what the call's other side said */
export async function asPluginCall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof GrpcFailure ? new PluginFailed(error) : error;
  }
}

/** `NOT_FOUND` is `NotFound` there. */
function goName(code: number): string {
  if (code === grpcCode.CANCELLED) return 'Canceled';
  return (grpcCode[code] ?? String(code)).toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
