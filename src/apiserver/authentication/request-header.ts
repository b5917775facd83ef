import type { Clock } from '#base/clock.ts';
import type { Authenticator, Credentials } from './authenticator.ts';

const extraPrefix = 'x-remote-extra-';

/**
 * A front proxy says for whom it asks.
 *
 * @param allowedNames common names of the proxies' certificates; empty: all that the proxies' authority signed
 */
export function createRequestHeaderAuthenticator(allowedNames: readonly string[], clock: Clock): Authenticator {
  return async ({ certificate, remoteHeaders }) => {
    if (certificate.kind !== 'verified') return undefined; // a rejected one is told by those who look at certificates
    if (!certificate.authorities.includes('proxy')) return { rejected: 'x509: certificate signed by unknown authority' };
    if (certificate.validUntilMs < clock.now()) return { rejected: 'x509: certificate has expired or is not yet valid' };
    if (allowedNames.length > 0 && !allowedNames.includes(certificate.commonName)) {
      return { rejected: `x509: subject with cn=${certificate.commonName} is not in the allowed list` };
    }
    const valuesOf = (name: string) => remoteHeaders.filter(([header]) => header === name).map(([, value]) => value.trim());
    const [name = ''] = valuesOf('x-remote-user');
    if (name === '') return undefined;
    return { name, uid: valuesOf('x-remote-uid')[0] ?? '', groups: valuesOf('x-remote-group'), extra: extraOf(remoteHeaders) };
  };
}

function extraOf(headers: Credentials['remoteHeaders']): Readonly<Record<string, readonly string[]>> {
  const pairs = headers.filter(([header]) => header.startsWith(extraPrefix));
  return gathered(pairs.map(([header, value]) => [unescaped(header.slice(extraPrefix.length)), value] as const));
}

/** The values of each key. A key is whatever somebody sent, `constructor` and `__proto__` too. */
export function gathered(pairs: readonly (readonly [key: string, value: string])[]): Readonly<Record<string, readonly string[]>> {
  const values = new Map<string, string[]>();
  for (const [key, value] of pairs) values.set(key, [...(values.get(key) ?? []), value]);
  return Object.fromEntries(values);
}

/** A key may hold what no header's name may: it comes with `%` escapes. */
export function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key; // as it was sent, as upstream
  }
}
