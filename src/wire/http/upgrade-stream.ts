import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { openRequest, type ProxyTarget, unreachable } from './proxy.ts';
import { type HeaderList, headerPairs, responseHead } from './upgrade-head.ts';

/** A client's request to change the protocol, and the connection it came on. */
export interface UpgradeClient {
  readonly method: string;
  readonly headers: HeaderList;
  readonly socket: Duplex;
  /** What came after the head already. */
  readonly head: Uint8Array;
}

export type UpgradeAnswer =
  | { readonly upgraded: true; readonly response: IncomingMessage; readonly socket: Duplex; readonly head: Uint8Array }
  | { readonly upgraded: false; readonly response: IncomingMessage };

/** @throws {Unavailable | Cancelled} also when the client goes away before there is an answer */
export function askUpgrade(
  client: UpgradeClient,
  target: ProxyTarget,
  headers: HeaderList,
  signal: AbortSignal,
  method = client.method,
): Promise<UpgradeAnswer> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const needsLength = method !== 'GET' && !headers.some(([name]) => name.toLowerCase() === 'content-length');
    const outgoing = openRequest(method, target, needsLength ? [...headers, ['Content-Length', '0']] : headers);
    const giveUp = (): void => void outgoing.destroy(reasonOf(signal));
    const forget = onAbort(signal, giveUp);
    client.socket.once('close', giveUp);
    const settle = (): void => {
      forget();
      client.socket.off('close', giveUp);
    };
    outgoing.on('error', (error) => {
      settle();
      reject(unreachable(error, target));
    });
    outgoing.once('upgrade', (response, socket, head) => {
      settle();
      resolve({ upgraded: true, response, socket, head });
    });
    outgoing.once('response', (response) => {
      settle();
      resolve({ upgraded: false, response });
    });
    outgoing.end();
  });
}

/** Passes on an answer that is not an upgrade, and ends the client's connection. */
export async function refuse(client: UpgradeClient, response: IncomingMessage): Promise<void> {
  const status = response.statusCode ?? 502;
  if (status >= 300 && status < 400) {
    response.destroy();
    const text = 'the backend attempted to redirect this request, which is not permitted';
    client.socket.end(`${responseHead(502, 'Bad Gateway', plainText(text.length))}${text}`);
    return;
  }
  const hop = new Set(['connection', 'keep-alive', 'transfer-encoding']);
  const kept = headerPairs(response.rawHeaders).filter(([name]) => !hop.has(name.toLowerCase()));
  client.socket.write(responseHead(status, response.statusMessage ?? '', [...kept, ['Connection', 'close']]));
  await new Promise<void>((resolve) => {
    client.socket.once('close', () => {
      response.destroy();
      resolve();
    });
    response.once('error', () => client.socket.destroy());
    response.pipe(client.socket);
  });
}

/**
 * Lets bytes flow both ways with back-pressure. When one side ends or breaks, the other gets what is on its way, then both are destroyed.
 *
 * @param idleMs the exchange ends when nothing was sent for so long; absent: never
 */
export function join(
  client: Pick<UpgradeClient, 'socket' | 'head'>,
  backend: Omit<UpgradeAnswer & { upgraded: true }, 'response'>,
  clock: Clock,
  signal: AbortSignal,
  idleMs?: number,
): Promise<void> {
  const sides = [client.socket, backend.socket] as const;
  return new Promise((resolve) => {
    const destroyBoth = (): void => {
      for (const side of sides) side.destroy();
    };
    const forget = onAbort(signal, destroyBoth);
    let linger: { cancel(): void } | undefined;
    const endBoth = (): void => {
      linger ??= clock.after(lingerMs, destroyBoth);
      for (const side of sides) endThenDestroy(side);
    };
    const stopWatching = idleMs === undefined ? () => undefined : whenIdle(sides, idleMs, clock, endBoth);
    for (const side of sides) {
      side.on('error', endBoth); // who resets has often said all before, and the other is to have it
      side.once('end', endBoth);
      side.once('close', () => {
        endBoth();
        if (!sides.every((one) => one.closed)) return;
        forget();
        stopWatching();
        linger?.cancel();
        resolve();
      });
    }
    if (backend.head.byteLength > 0) client.socket.write(backend.head);
    if (client.head.byteLength > 0) backend.socket.write(client.head);
    client.socket.pipe(backend.socket);
    backend.socket.pipe(client.socket);
    if (sides.some((side) => side.destroyed || side.readableEnded)) endBoth();
  });
}

/** Calls back once, when no side has sent anything for so long. @returns ends the watch */
function whenIdle(sides: readonly Duplex[], idleMs: number, clock: Clock, isIdle: () => void): () => void {
  let lastAt = clock.monotonic();
  for (const side of sides) {
    side.on('data', () => {
      lastAt = clock.monotonic();
    });
  }
  const look = (): void => {
    const leftMs = lastAt + idleMs - clock.monotonic();
    if (leftMs <= 0) isIdle();
    else timer = clock.after(leftMs, look);
  };
  let timer = clock.after(idleMs, look);
  return () => timer.cancel();
}

/** How long a side that does not read may hold the last bytes. */
const lingerMs = 10_000;

function endThenDestroy(side: Duplex): void {
  if (side.destroyed) return;
  if (side.writableFinished) {
    side.destroy();
    return;
  }
  side.once('finish', () => side.destroy());
  if (!side.writableEnded) side.end();
}

function plainText(lengthBytes: number): HeaderList {
  return [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', String(lengthBytes)],
    ['Connection', 'close'],
  ];
}
