import { parseGoDuration } from '#api/schema/protobuf/go-duration.ts';
import { badRequest } from '#api/status.ts';
import { InvalidInput } from '#base/errors.ts';
import type { RequestInfo } from './request-info.ts';

/** What does not stream has an end. */
const requestTimeoutMs = 60_000;
const writeTimeoutMs = 34_000;

export interface TimeLimit {
  readonly ms: number;
  /** What follows `Timeout: ` when it is over. */
  readonly problem: string;
}

const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);
const writingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Watches, logs, streams: they last as long as their client wants. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.kind === 'resource' && (info.verb === 'watch' || longRunningSubresources.has(info.subresource));
}

/**
 * How long a request may take: what it asks for, within the server's limits; undefined when it has no limit.
 *
 * @throws a 400 `StatusError` when `?timeout=` is no duration
 */
export function timeLimitOf(info: RequestInfo, query: URLSearchParams): TimeLimit | undefined {
  if (isLongRunning(info)) return undefined;
  const asked = askedMs(query.get('timeout') ?? '');
  const ms = asked > 0 ? Math.min(asked, requestTimeoutMs) : requestTimeoutMs;
  if (info.kind === 'resource' && writingVerbs.has(info.verb) && writeTimeoutMs < ms) {
    return { ms: writeTimeoutMs, problem: 'request did not complete within requested timeout - context deadline exceeded' };
  }
  return { ms, problem: 'request did not complete within the allotted timeout' };
}

function askedMs(text: string): number {
  if (text === '') return 0;
  try {
    return Number(parseGoDuration(text) / 1_000_000n);
  } catch (error) {
    if (error instanceof InvalidInput) throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
    throw error;
  }
}
