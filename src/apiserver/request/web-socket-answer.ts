import type { Duplex } from 'node:stream';
import { headerPairs, wantedUpgrade } from '#wire/http/upgrade-head.ts';
import { type MessageForm, sendMessages } from '#wire/http/web-socket-messages.ts';
import type { ApiResponse, RoutedRequest } from './route.ts';

/** A browser's token comes as the name of a protocol. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/**
 * Whether the client wants the answer as messages of a WebSocket, and there is a stream to send: the events of a watch are one text message
 * each, a log is what it is.
 */
export function webSocketForm({ info, rawHeaders }: RoutedRequest, { status, headers, body }: ApiResponse): MessageForm | undefined {
  if (info.kind !== 'resource' || wantedUpgrade(headerPairs(rawHeaders)) !== 'websocket') return undefined;
  if (status !== 200 || body instanceof Uint8Array) return undefined;
  if (info.verb === 'watch' && headers['content-type'] === 'application/json') return 'lines';
  return info.resource === 'pods' && info.subresource === 'log' ? 'bytes' : undefined;
}

export async function sendAsMessages(
  request: RoutedRequest,
  { body }: ApiResponse,
  form: MessageForm,
  connection: { readonly socket: Duplex; readonly head: Uint8Array },
  signal: AbortSignal,
): Promise<void> {
  if (body instanceof Uint8Array) throw new Error('only streams become messages');
  const client = { method: request.method, headers: headerPairs(request.rawHeaders), ...connection };
  await sendMessages(client, body, { form, refusedProtocol: tokenProtocol }, signal);
}
