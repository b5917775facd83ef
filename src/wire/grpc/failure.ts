import { AppError, type AppErrorInit, type RetryClass } from '#base/errors.ts';

/** Status codes of gRPC that the code compares. Source: gRPC's status code list. */
export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const retried: ReadonlySet<number> = new Set([grpcStatus.deadlineExceeded, grpcStatus.resourceExhausted, grpcStatus.aborted, grpcStatus.unavailable]);

/** A call that the other side, or the way to it, answered with a status other than OK. Each service translates it once. */
export class GrpcFailure extends AppError {
  readonly code = 'GRPC_FAILURE';
  readonly retry: RetryClass;
  readonly status: number;
  /** The status's own text, as it was sent. */
  readonly details: string;

  constructor(init: AppErrorInit & { readonly status: number; readonly details: string }) {
    super(init);
    this.status = init.status;
    this.details = init.details;
    this.retry = retried.has(init.status) ? 'backoff' : 'never';
  }
}
