import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { ProxyTarget } from './proxy.ts';
import { headerPairs, headersForBackend, offeredWebSocketProtocols, portForwardTunnel, responseHead, withoutProtocols } from './upgrade-head.ts';
import { askUpgrade, join, refuse, type UpgradeClient } from './upgrade-stream.ts';

/** None of the protocols that the client offers is spoken by the other side. */
export class ProtocolRefused extends AppError {
  readonly code = 'PROTOCOL_REFUSED';
  readonly retry = 'never';
}

/**
 * Carries an upgrade to `target`: the request goes on with path and host of the target, then bytes flow both ways until one side ends.
 * WebSocket protocols that runtimes do not speak are taken out of the offer; the tunnel of kubectl's port-forward is unwrapped. Whatever
 * the target answers instead of the upgrade goes back to the client as it is.
 *
 * @param idleMs the exchange ends when nothing was sent for so long; absent: never
 * @returns when the exchange is over
 * @throws {ProtocolRefused | Unavailable | Cancelled} before anything was written to the client; afterwards an error ends both connections
 */
export async function proxyUpgrade(client: UpgradeClient, target: ProxyTarget, clock: Clock, signal: AbortSignal, idleMs?: number): Promise<void> {
  if (offeredWebSocketProtocols(client.headers).includes(portForwardTunnel)) {
    const { proxyTunnel } = await import('./upgrade-tunnel.ts'); // the WebSocket library is loaded when somebody needs it
    return await proxyTunnel(client, target, clock, signal, idleMs);
  }
  const offer = withoutProtocols(client.headers, unspokenProtocols);
  if (offer === undefined)
    throw new ProtocolRefused({
      message: `none of the WebSocket protocols offered is supported: ${offeredWebSocketProtocols(client.headers).join(', ')}`,
    });
  const answer = await askUpgrade(client, target, headersForBackend(offer, target.url.host), signal);
  if (!answer.upgraded) return await refuse(client, answer.response);
  client.socket.write(responseHead(101, 'Switching Protocols', headerPairs(answer.response.rawHeaders)));
  await join(client, answer, clock, signal, idleMs);
}

/** containerd 1.6 and 1.7, as kubelets before 1.36, have no version 5; clients that are refused it change to SPDY. */
const unspokenProtocols: ReadonlySet<string> = new Set(['v5.channel.k8s.io']);
