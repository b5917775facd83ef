import { badRequest } from '#api/status.ts';
import { messageOf } from '#base/errors.ts';

export interface ContinueToken {
  /** -1: at the newest state. */
  readonly revision: number;
  /** The last key of the page before, as in `IndexedObject.key`. */
  readonly after: string;
}

/** The token is opaque to clients; its form is upstream's. */
export function encodeContinueToken({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` })).toString('base64url');
}

/** @throws a 400 `StatusError` for what we did not write */
export function decodeContinueToken(token: string): ContinueToken {
  const value = parse(token);
  if (typeof value !== 'object' || value === null) throw notValid('');
  const { v, rv, start } = value as { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown }; // any object has any property
  if (v !== 'meta.k8s.io/v1') throw notValid(': server does not recognize this encoded version');
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw notValid(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw notValid(': encoded start key empty (version meta.k8s.io/v1)');
  if (start.split('/').includes('..')) throw notValid(`: ${start.replace(/\0$/, '')}`);
  return { revision: rv, after: start.replace(/\0$/, '') };
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch (error) {
    throw notValid(`: ${messageOf(error)}`);
  }
}

function notValid(why: string) {
  return badRequest(`invalid continue token: continue key is not valid${why}`);
}
