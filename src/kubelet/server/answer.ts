import type { HttpResponse } from '#wire/http/server.ts';

/** A refusal of the kubelet's server: plain text with a status, as upstream's. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}

export function textAnswer(status: number, text: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(text) };
}

export function jsonAnswer(value: unknown): HttpResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
