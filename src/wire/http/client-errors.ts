import { messageOf, Unavailable } from '#base/errors.ts';

/** Who was asked by HTTPS answered in plain HTTP. */
export class SpeaksPlainHttp extends Unavailable {}

/** What could not be reached and why, in the words that Kubernetes users know: `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function dialErrorText(error: unknown, host: string, port: string | number): string {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const code = (error as { readonly code?: unknown } | null)?.code;
  const known = typeof code === 'string' ? dialProblems[code] : undefined;
  return known === undefined ? messageOf(error) : `dial tcp ${address}: ${known}`;
}

const dialProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
  ENOTFOUND: 'lookup failed: no such host',
};

/** OpenSSL has no code for it in Node.js 20: the first bytes of the answer are not those of TLS. */
export function isPlainAnswer(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'EPROTO' && messageOf(error).includes('wrong version number');
}
