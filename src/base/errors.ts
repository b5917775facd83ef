/** Whether, and how soon, the same call may go through. */
export type RetryClass = 'never' | 'now' | 'backoff';

export interface AppErrorInit {
  /** For a person: names the thing and what is wrong with it. */
  readonly message: string;
  /** What the person can do about it. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** Something that can go wrong in the world. A broken invariant is a plain `Error` instead. */
export abstract class AppError extends Error {
  /** Stable; what code compares. */
  abstract readonly code: string;
  abstract readonly retry: RetryClass;
  readonly hint: string | undefined;

  constructor(init: AppErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = new.target.name;
    this.hint = init.hint;
  }
}

/** What a caller gave is not what the contract asks for. */
export class InvalidInput extends AppError {
  readonly code = 'INVALID_INPUT';
  readonly retry = 'never';
}

/** The work was given up because its signal was aborted. */
export class Cancelled extends AppError {
  readonly code = 'CANCELLED';
  readonly retry = 'never';
}

/** The work did not end within its deadline. */
export class DeadlineExceeded extends AppError {
  readonly code = 'DEADLINE_EXCEEDED';
  readonly retry = 'backoff';
}

/** The thing that was asked for is not there. */
export class NotFound extends AppError {
  readonly code = 'NOT_FOUND';
  readonly retry = 'never';
}

/** The other side cannot be reached at the moment. */
export class Unavailable extends AppError {
  readonly code = 'UNAVAILABLE';
  readonly retry = 'backoff';
}

/** The text of anything that was thrown, for a log line or a message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
