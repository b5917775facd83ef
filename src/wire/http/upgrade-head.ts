/** Headers in the order and spelling of whoever sent them. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Raw bytes of a SPDY connection as binary messages of a WebSocket: how kubectl forwards ports through HTTP proxies. */
export const portForwardTunnel = 'SPDY/3.1+portforward.k8s.io';

/** @param rawHeaders name, value, name, value..., as Node.js gives them */
export function headerPairs(rawHeaders: readonly string[]): HeaderList {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return pairs;
}

/** All values of a header, comma-separated ones taken apart. */
export function headerValues(headers: HeaderList, name: string): readonly string[] {
  const values = headers.filter(([key]) => isNamed(key, name)).flatMap(([, value]) => value.split(','));
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** The protocol that the client wants to change to, in lower case; undefined: it wants none. */
export function wantedUpgrade(headers: HeaderList): string | undefined {
  const asks = headerValues(headers, 'connection').some((value) => value.toLowerCase() === 'upgrade');
  return asks ? headerValues(headers, 'upgrade')[0]?.toLowerCase() : undefined;
}

export function offeredWebSocketProtocols(headers: HeaderList): readonly string[] {
  return wantedUpgrade(headers) === 'websocket' ? headerValues(headers, protocolHeader) : [];
}

/**
 * Takes protocols out of a WebSocket offer that the other side would accept and then not speak. A bearer token that came as a protocol
 * goes too: it was for us.
 *
 * @returns undefined when nothing is left of the offer: the answer must be a refusal, so that the client tries another way at once
 */
export function withoutProtocols(headers: HeaderList, refused: ReadonlySet<string>): HeaderList | undefined {
  const offered = offeredWebSocketProtocols(headers).filter((protocol) => !protocol.startsWith(bearerPrefix));
  const kept = offered.filter((protocol) => !refused.has(protocol));
  if (kept.length === 0 && offered.length > 0) return undefined;
  const others = headers.filter(([name]) => !isNamed(name, protocolHeader));
  return kept.length === 0 ? others : [...others, [protocolHeader, kept.join(', ')]];
}

/** What is sent on: without what was meant for us (host, credentials, hop-by-hop headers), with the upgrade itself. */
export function headersForBackend(headers: HeaderList, host: string, extra: HeaderList = []): HeaderList {
  const dropped = new Set([...ownHeaders, ...headerValues(headers, 'connection').map((name) => name.toLowerCase())]);
  const kept = headers.filter(([name]) => !dropped.has(name.toLowerCase()) && !name.toLowerCase().startsWith('impersonate-'));
  const upgrade = headers.find(([name]) => isNamed(name, 'upgrade'));
  const change: HeaderList = upgrade === undefined || wantedUpgrade(headers) === undefined ? [] : [['Connection', 'Upgrade'], upgrade];
  return [['Host', host], ...kept, ...change, ...extra];
}

/** The head of a response as bytes on the wire. */
export function responseHead(status: number, statusText: string, headers: HeaderList): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${statusText}\r\n${lines.join('')}\r\n`;
}

const protocolHeader = 'Sec-WebSocket-Protocol';
const bearerPrefix = 'base64url.bearer.authorization.k8s.io.';
const ownHeaders = [
  'host', 'authorization', 'connection', 'upgrade', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te',
  'trailer', 'transfer-encoding',
]; // biome-ignore format: a list of words

function isNamed(name: string, wanted: string): boolean {
  return name.toLowerCase() === wanted.toLowerCase();
}
