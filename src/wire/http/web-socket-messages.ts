import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { onAbort } from '#base/abort.ts';
import type { UpgradeClient } from './upgrade-stream.ts';

const newline = 10;

/** How a stream becomes messages: `lines` is a text message each, of chunks of whole lines; `bytes` is what comes as it comes, after an empty one. */
export type MessageForm = 'lines' | 'bytes';

/**
 * Sends a stream as the messages of a WebSocket, and closes it at the end. What the client sends is not read.
 *
 * @param refusedProtocol offers that begin with it are never chosen
 */
export async function sendMessages(
  client: UpgradeClient,
  chunks: AsyncIterable<Uint8Array>,
  { form, refusedProtocol }: { readonly form: MessageForm; readonly refusedProtocol: string },
  signal: AbortSignal,
): Promise<void> {
  const webSocket = await accepted(client, refusedProtocol);
  if (webSocket === undefined) return;
  webSocket.on('error', () => undefined); // 'close' follows and is what counts
  const forget = onAbort(signal, () => webSocket.terminate());
  const send = (chunk: Uint8Array) => (form === 'lines' ? sendLines(webSocket, chunk) : sendBytes(webSocket, chunk));
  try {
    if (form === 'bytes' && !(await send(new Uint8Array()))) return; // it is there, although nothing may come for long
    for await (const chunk of chunks) if (!(await send(chunk))) return;
  } finally {
    forget();
    webSocket.close(1000);
  }
}

/** @returns undefined when the client's handshake was wrong; it has its answer */
function accepted(client: UpgradeClient, refusedProtocol: string): Promise<WebSocket | undefined> {
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: (offered) => [...offered].find((protocol) => !protocol.startsWith(refusedProtocol)) ?? false,
  });
  const headers = Object.fromEntries(client.headers.map(([name, value]) => [name.toLowerCase(), value]));
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

function* linesOf(chunk: Uint8Array): Generator<Uint8Array, void, void> {
  for (let from = 0; from < chunk.length; ) {
    const end = chunk.indexOf(newline, from);
    const to = end < 0 ? chunk.length : end;
    yield chunk.subarray(from, to);
    from = to + 1;
  }
}

/** @returns whether the client is still there */
async function sendLines(webSocket: WebSocket, chunk: Uint8Array): Promise<boolean> {
  for (const line of linesOf(chunk)) if (!(await sent(webSocket, line, false))) return false;
  return true;
}

/** @returns whether the client is still there */
function sendBytes(webSocket: WebSocket, chunk: Uint8Array): Promise<boolean> {
  if (!webSocket.protocol.startsWith('base64.')) return sent(webSocket, chunk, true);
  return sent(webSocket, Buffer.from(Buffer.from(chunk).toString('base64')), false);
}

function sent(webSocket: WebSocket, message: Uint8Array, binary: boolean): Promise<boolean> {
  return new Promise((resolve) => webSocket.send(message, { binary }, (error) => resolve(error === undefined || error === null)));
}
