import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { NotFound } from '#base/errors.ts';
import type { GrpcChannel } from '../grpc/channel.ts';
import type { MethodName, RequestOf, ResponseOf, ServiceDefinition } from '../grpc/definition.ts';
import { GrpcFailure, grpcStatus } from '../grpc/failure.ts';
import { fromCri } from './errors.ts';

export interface CriCall {
  /** As CRI spells it: `RunPodSandbox`. */
  readonly name: string;
  readonly startedAtMs: number;
  readonly tookMs: number;
  readonly failed: boolean;
}

export interface CriObservers {
  /** Told after each call. It must not throw. */
  readonly onCall?: ((call: CriCall) => void) | undefined;
  /** Told before each call, with the very message that is sent. It must not throw. */
  readonly onRequest?: ((name: string, request: unknown) => void) | undefined;
}

export type CriCaller = <S extends ServiceDefinition, M extends MethodName<S>>(
  service: S,
  method: M,
  request: RequestOf<S, M>,
  about: { readonly doing: string; readonly timeoutMs: number | undefined },
  signal: AbortSignal,
) => Promise<ResponseOf<S, M>>;

/** Calls that are observed and whose failures are translated. */
export function criCaller(channel: GrpcChannel, clock: Clock, observers: CriObservers): CriCaller {
  return async (service, method, request, about, signal) => {
    throwIfAborted(signal);
    const name = service.methods[method]?.name ?? method;
    const startedAtMs = clock.now();
    const started = clock.monotonic();
    let failed = true;
    observers.onRequest?.(name, request);
    try {
      const response = await channel.call(service, method, request, { timeoutMs: about.timeoutMs }, signal);
      failed = false;
      return response;
    } catch (error) {
      throw error instanceof GrpcFailure ? fromCri(error, about.doing) : error;
    } finally {
      observers.onCall?.({ name, startedAtMs, tookMs: clock.monotonic() - started, failed });
    }
  };
}

/** The answer, or `undefined` when the runtime knows no such thing. */
export async function ifThere<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

function isNotThere(error: unknown): boolean {
  if (error instanceof NotFound) return true;
  return error instanceof Error && error.cause instanceof GrpcFailure && error.cause.status === grpcStatus.notFound;
}
