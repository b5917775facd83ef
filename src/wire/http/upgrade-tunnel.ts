import type { IncomingMessage } from 'node:http';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '#base/clock.ts';
import type { ProxyTarget } from './proxy.ts';
import { headersForBackend, portForwardTunnel } from './upgrade-head.ts';
import { askUpgrade, join, refuse, type UpgradeClient } from './upgrade-stream.ts';

/** Ends the client's WebSocket here and carries the SPDY bytes in it to the target, which sees a plain SPDY upgrade. */
export async function proxyTunnel(client: UpgradeClient, target: ProxyTarget, clock: Clock, signal: AbortSignal, idleMs?: number): Promise<void> {
  const kept = client.headers.filter(([name]) => !/^(sec-websocket-.*|upgrade)$/i.test(name));
  const headers = headersForBackend([...kept, ['Upgrade', 'SPDY/3.1']], target.url.host, [['X-Stream-Protocol-Version', 'portforward.k8s.io']]);
  const answer = await askUpgrade(client, target, headers, signal, 'POST');
  if (!answer.upgraded) return await refuse(client, answer.response);
  const webSocket = await accept(client);
  if (webSocket === undefined) {
    answer.socket.destroy();
    return;
  }
  await join({ socket: createWebSocketStream(webSocket), head: new Uint8Array() }, answer, clock, signal, idleMs);
}

/** @returns undefined when the client's handshake was wrong; it has its answer */
function accept(client: UpgradeClient): Promise<WebSocket | undefined> {
  const acceptor = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
  // The protocol's name has a slash in it: the library would call the offer malformed, so it sees none and its answer is completed here.
  const offer = client.headers.filter(([name]) => name.toLowerCase() !== 'sec-websocket-protocol');
  acceptor.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${portForwardTunnel}`));
  const headers = Object.fromEntries(offer.map(([name, value]) => [name.toLowerCase(), value]));
  return new Promise((resolve) => {
    const gaveUp = (): void => resolve(undefined);
    client.socket.once('close', gaveUp);
    // The library reads these three fields of the request and no others.
    const request = { method: client.method, url: '/', headers } as unknown as IncomingMessage;
    acceptor.handleUpgrade(request, client.socket, Buffer.from(client.head), (webSocket) => {
      client.socket.off('close', gaveUp);
      resolve(webSocket);
    });
  });
}
