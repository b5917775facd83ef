import type { PartSpec, PartStatus } from './part.ts';

/** One line of JSON each; every request is answered by at least one reply on the same connection. */
export type SupervisorRequest =
  /** Keep these running beside those that are kept already; one whose specification changed is restarted. */
  | { readonly do: 'ensure'; readonly parts: readonly PartSpec[] }
  | { readonly do: 'status' }
  /** The status now, and again after each change. */
  | { readonly do: 'follow' }
  /** The supervisor ends; the parts go on. */
  | { readonly do: 'quit' };

export type SupervisorReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'status'; readonly parts: readonly PartStatus[] }
  | { readonly kind: 'refused'; readonly why: string };

const requests: ReadonlySet<unknown> = new Set(['ensure', 'status', 'follow', 'quit']);
const replies: ReadonlySet<unknown> = new Set(['done', 'status', 'refused']);

export function encodeLine(message: SupervisorRequest | SupervisorReply): string {
  return JSON.stringify(message);
}

/** The two sides are one program of one version; only what is no message of theirs at all is refused. */
export function decodeRequest(line: string): SupervisorRequest | undefined {
  const value = parsed(line);
  return value !== undefined && 'do' in value && requests.has(value.do) ? (value as SupervisorRequest) : undefined;
}

export function decodeReply(line: string): SupervisorReply | undefined {
  const value = parsed(line);
  return value !== undefined && 'kind' in value && replies.has(value.kind) ? (value as SupervisorReply) : undefined;
}

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
