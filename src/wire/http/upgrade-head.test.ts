import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeaderList, headerPairs, headersForBackend, responseHead, wantedUpgrade, withoutProtocols } from './upgrade-head.ts';

const v5Only: ReadonlySet<string> = new Set(['v5.channel.k8s.io']);

function aWebSocket(...protocolLines: readonly string[]): HeaderList {
  return [['Connection', 'keep-alive, Upgrade'], ['Upgrade', 'WebSocket'], ...protocolLines.map((line) => ['Sec-WebSocket-Protocol', line] as const)];
}

const protocolsOf = (headers: HeaderList | undefined): readonly string[] | undefined =>
  headers?.filter(([name]) => name === 'Sec-WebSocket-Protocol').map(([, value]) => value);

test('an upgrade is wanted only when the connection header says so', () => {
  assert.equal(wantedUpgrade(aWebSocket()), 'websocket');
  assert.equal(
    wantedUpgrade([
      ['connection', 'upgrade'],
      ['upgrade', 'SPDY/3.1'],
    ]),
    'spdy/3.1',
  );
  assert.equal(wantedUpgrade([['Upgrade', 'h2c']]), undefined);
});

test('a protocol that the runtime refuses is taken out of the offer, the order of the others stays', () => {
  assert.deepEqual(protocolsOf(withoutProtocols(aWebSocket('v5.channel.k8s.io, v4.channel.k8s.io', 'channel.k8s.io'), v5Only)), [
    'v4.channel.k8s.io, channel.k8s.io',
  ]);
});

test('an offer of which nothing is left is refused', () => {
  assert.equal(withoutProtocols(aWebSocket('v5.channel.k8s.io'), v5Only), undefined);
});

test('a bearer token among the protocols does not go on and is no offer', () => {
  const token = 'base64url.bearer.authorization.k8s.io.abc';
  assert.deepEqual(protocolsOf(withoutProtocols(aWebSocket(token), v5Only)), []);
  assert.deepEqual(protocolsOf(withoutProtocols(aWebSocket(`${token}, v4.channel.k8s.io`), v5Only)), ['v4.channel.k8s.io']);
});

test('an offer without protocols, and one that is not a WebSocket, stay as they are', () => {
  assert.deepEqual(withoutProtocols(aWebSocket(), v5Only), aWebSocket());
  const spdy: HeaderList = [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'SPDY/3.1'],
    ['X-Stream-Protocol-Version', 'v5.channel.k8s.io'],
    ['X-Stream-Protocol-Version', 'v4.channel.k8s.io'],
  ];
  assert.deepEqual(withoutProtocols(spdy, v5Only), spdy);
});

test('host, credentials and hop-by-hop headers stay here, repeated headers and the upgrade go on', () => {
  const sent = headerPairs([
    'Host', 'kubernetes:6443', 'Authorization', 'Bearer x', 'X-Stream-Protocol-Version', 'v4.channel.k8s.io', 'X-Stream-Protocol-Version', 'v3.channel.k8s.io',
    'Connection', 'Upgrade, X-Hop', 'X-Hop', '1', 'Upgrade', 'SPDY/3.1', 'Impersonate-User', 'root', 'Content-Length', '0',
  ]); // biome-ignore format: pairs
  assert.deepEqual(headersForBackend(sent, '10.0.0.1:10250', [['X-Extra', 'e']]), [
    ['Host', '10.0.0.1:10250'],
    ['X-Stream-Protocol-Version', 'v4.channel.k8s.io'],
    ['X-Stream-Protocol-Version', 'v3.channel.k8s.io'],
    ['Content-Length', '0'],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'SPDY/3.1'],
    ['X-Extra', 'e'],
  ]);
});

test('a response head is what goes over the wire', () => {
  assert.equal(responseHead(101, 'Switching Protocols', [['Upgrade', 'SPDY/3.1']]), 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\n\r\n');
});
