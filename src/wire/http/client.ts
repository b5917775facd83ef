import * as http from 'node:http';
import * as https from 'node:https';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { AppError, Unavailable } from '#base/errors.ts';
import { dialErrorText, isPlainAnswer, SpeaksPlainHttp } from './client-errors.ts';

export interface HttpGet {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** Sent as they are, and no others but `Host` (when it is not among them) and `Connection`. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The body is cut there. */
  readonly maxBodyBytes: number;
}

export interface HttpGot {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * One GET on a connection of its own: no proxy, no redirects, no check of the other side's certificate. For servers that are being
 * probed, not for servers that are trusted.
 *
 * @throws {Unavailable} with Go's `dial tcp ...` text; {Cancelled} or {DeadlineExceeded} as the signal says
 */
export function httpGet(get: HttpGet, signal: AbortSignal): Promise<HttpGot> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const host = get.host.includes(':') ? `[${get.host}]` : get.host;
    const sent = get.headers.some(({ name }) => name.toLowerCase() === 'host')
      ? get.headers
      : [{ name: 'Host', value: `${host}:${get.port}` }, ...get.headers];
    const settings: https.RequestOptions = {
      agent: false,
      host: get.host,
      port: get.port,
      path: get.path,
      setHost: false,
      insecureHTTPParser: true, // a program that answers a little wrong is alive
      rejectUnauthorized: false,
      headers: sent.flatMap(({ name, value }) => [name, value]) as unknown as http.OutgoingHttpHeaders, // a flat list is taken too; its types do not say so
    };
    const outgoing = get.scheme === 'https' ? https.request(settings) : http.request(settings);
    const fail = (error: unknown): void => reject(asAppError(error, get, signal));
    const forget = onAbort(signal, () => outgoing.destroy(reasonOf(signal)));
    outgoing.once('close', forget);
    outgoing.on('error', fail);
    outgoing.once('response', (response) => {
      response.on('error', fail);
      readUpTo(response, get.maxBodyBytes).then((body) => {
        resolve({ status: response.statusCode ?? 0, headers: flat(response.headers), body });
        outgoing.destroy();
      }, fail);
    });
    outgoing.end();
  });
}

async function readUpTo(response: http.IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer); // no encoding is set
    size += (chunk as Buffer).byteLength;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function asAppError(error: unknown, get: HttpGet, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error;
  const lost = signal.aborted ? reasonOf(signal) : undefined;
  if (lost instanceof AppError) return lost;
  if (isPlainAnswer(error)) return new SpeaksPlainHttp({ message: 'http: server gave HTTP response to HTTPS client', cause: error });
  return new Unavailable({ message: dialErrorText(error, get.host, get.port), cause: error });
}

function flat(headers: http.IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) result[name] = Array.isArray(value) ? value.join(', ') : value;
  return result;
}
