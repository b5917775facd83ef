import type { Status, StatusDetails } from '#api/types/meta-v1.ts';
import { AppError, type RetryClass } from '#base/errors.ts';

/** The API server's own answer to a request that it did not fulfil: a `Status`. */
export class ApiError extends AppError {
  readonly code = 'API_ERROR';
  readonly retry: RetryClass;
  /** HTTP code. */
  readonly status: number;
  /** Upstream's word: `NotFound`, `AlreadyExists`, `Conflict`, `Expired`... */
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(init: { readonly message: string; readonly status: number; readonly reason: string; readonly details?: StatusDetails | undefined }) {
    super({ message: init.message });
    this.status = init.status;
    this.reason = init.reason;
    this.details = init.details;
    this.retry = retryClassOf(init.status);
  }
}

/** The answer is not what the API promises: cut off, or not from an API server. */
export class MalformedAnswer extends AppError {
  readonly code = 'MALFORMED_ANSWER';
  readonly retry = 'backoff';
}

/** @param httpStatus stands in for a code that the Status does not carry */
export function apiErrorOf(status: Status, httpStatus: number): ApiError {
  const code = status.code ?? httpStatus;
  return new ApiError({
    message: status.message ?? `the server answered ${code}`,
    status: code,
    reason: status.reason ?? 'Unknown',
    details: status.details,
  });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The object is not at the revision that the write was based on. A name that is taken is not a conflict but `isAlreadyExists`. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'Forbidden';
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.reason === 'AlreadyExists';
}

/** The revision that was asked for is no longer in the history: list again. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 410;
}

/** A create was refused because its namespace is being deleted: there is nobody to tell, and no use in trying again. */
export function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof ApiError && (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
}

function retryClassOf(status: number): RetryClass {
  if (status === 409) return 'now';
  return status === 429 || status >= 500 ? 'backoff' : 'never';
}
