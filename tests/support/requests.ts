import { request } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  /** A string is sent as it is, all else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly body: any;
}

export interface WatchEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: see Reply
  readonly object: any;
}

/** What remains to be said to a cluster where the bytes and headers matter: HTTPS requests with the admin's certificate. */
export interface Requests {
  readonly config: KubeConfig;
  call(method: Method, path: string, options?: RequestOptions): Promise<Reply>;
  /** The events of a watch up to the one that `until` accepts. */
  watch(path: string, until: (event: WatchEvent, index: number) => boolean): Promise<readonly WatchEvent[]>;
}

export async function requestsTo(kubeconfig: string): Promise<Requests> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const server = config.getCurrentCluster()?.server ?? '';
  const tls = {};
  await config.applyToHTTPSOptions(tls);
  const call = (method: Method, path: string, { body, headers = {} }: RequestOptions = {}) =>
    new Promise<Reply>((resolve, reject) => {
      const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const framing = payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
      const sent = request(new URL(path, server), { ...tls, method, headers: { ...framing, ...headers } }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, body: parsed(text) }));
      });
      sent.on('error', reject).end(payload);
    });
  const watch = (path: string, until: (event: WatchEvent, index: number) => boolean) =>
    new Promise<readonly WatchEvent[]>((resolve, reject) => {
      const events: WatchEvent[] = [];
      let rest = '';
      const sent = request(new URL(path, server), tls, (answer) => {
        answer.setEncoding('utf8').on('error', reject);
        answer.on('end', () => reject(new Error(`the watch ended after ${JSON.stringify(events.map(({ type }) => type))}: ${rest}`)));
        answer.on('data', (chunk: string) => {
          const lines = `${rest}${chunk}`.split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            const event: WatchEvent = JSON.parse(line);
            if (until(event, events.push(event) - 1)) {
              resolve(events);
              sent.destroy();
              return;
            }
          }
        });
      });
      sent.on('error', reject).end();
    });
  return { config, call, watch };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not every answer is JSON
  }
}
