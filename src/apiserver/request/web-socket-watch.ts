import type { Duplex } from 'node:stream';
import { headerPairs, wantedUpgrade } from '#wire/http/upgrade-head.ts';
import { sendLines } from '#wire/http/web-socket-lines.ts';
import type { ApiResponse, RoutedRequest } from './route.ts';

/** A browser's token comes as the name of a protocol. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/** Whether the client wants the events of its watch as messages of a WebSocket, and the watch has begun. */
export function isWebSocketWatch({ info, rawHeaders }: RoutedRequest, { status, headers, body }: ApiResponse): boolean {
  const isWatch = info.kind === 'resource' && info.verb === 'watch' && wantedUpgrade(headerPairs(rawHeaders)) === 'websocket';
  return isWatch && status === 200 && headers['content-type'] === 'application/json' && !(body instanceof Uint8Array);
}

/** Each event is one text message. */
export async function sendWatch(request: RoutedRequest, answer: ApiResponse, socket: Duplex, head: Uint8Array, signal: AbortSignal): Promise<void> {
  if (answer.body instanceof Uint8Array) throw new Error('a watch is a stream');
  const client = { method: request.method, headers: headerPairs(request.rawHeaders), socket, head };
  await sendLines(client, answer.body, tokenProtocol, signal);
}
