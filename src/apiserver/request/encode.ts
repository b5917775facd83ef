import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import { encodeObject } from '#api/schema/protobuf/encode-object.ts';
import type { StatusError } from '#api/status.ts';
import { mediaTypes, type OutputFormat } from './negotiate.ts';
import type { ApiResponse } from './route.ts';

const compress = promisify(gzip);
const compressFromBytes = 128 * 1024;
const newline = Buffer.from('\n');

type Written = Pick<OutputFormat, 'encoding' | 'isPretty'>;

/** @param json the answer as one JSON text */
export function answer(status: number, json: Uint8Array, format: Written, warnings: readonly string[] = []): ApiResponse {
  const headers = { 'content-type': mediaTypes[format.encoding], ...warningHeaders(warnings) };
  return { status, headers, body: bodyOf(json, format) };
}

export function answerObject(status: number, object: unknown, format: Written, warnings: readonly string[] = []): ApiResponse {
  return answer(status, Buffer.from(JSON.stringify(object)), format, warnings);
}

/** A failure is always a plain `Status`, whatever form was asked for. */
export function answerFailure({ status }: StatusError, format: Written = { encoding: 'json', isPretty: false }): ApiResponse {
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  const { headers, ...response } = answerObject(status.code, status, format);
  return {
    ...response,
    headers: {
      ...headers,
      ...(status.code === 403 ? { 'x-content-type-options': 'nosniff' } : {}),
      ...(retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {}),
    },
  };
}

function bodyOf(json: Uint8Array, { encoding, isPretty }: Written): Uint8Array {
  switch (encoding) {
    case 'json':
      return isPretty ? Buffer.from(`${JSON.stringify(parse(json), undefined, 2)}\n`) : Buffer.concat([json, newline]);
    case 'yaml':
      // Readers of YAML 1.1 are many: `yes` and `on` must not become truth values for them.
      return Buffer.from(stringify(parse(json), { version: '1.1', lineWidth: 0, sortMapEntries: true }));
    case 'protobuf':
      return encodeObject(parse(json));
  }
}

export function answerText(status: number, text: string): ApiResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(text) };
}

/** Large answers are compressed for those who take it; streams never are. */
export async function compressed(response: ApiResponse, acceptEncoding: string): Promise<ApiResponse> {
  const { body } = response;
  if (!(body instanceof Uint8Array) || body.byteLength <= compressFromBytes || !takesGzip(acceptEncoding)) return response;
  const vary = [response.headers['vary'] ?? [], 'Accept-Encoding'].flat().join(', ');
  const headers = { ...response.headers, 'content-encoding': 'gzip', vary };
  return { ...response, headers, body: await compress(body, { level: 1 }) };
}

/** An answer with more of them than it was made with. */
export function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  if (warnings.length === 0) return response;
  const { warning = [] } = response.headers;
  const given = typeof warning === 'string' ? [warning] : warning;
  return { ...response, headers: { ...response.headers, warning: [...(warningHeaders(warnings)['warning'] ?? []), ...given] } };
}

function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((clause) => /^\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(clause));
}

const maxWarningCharacters = 4096;

function warningHeaders(warnings: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const distinct = [...new Set(warnings)];
  if (distinct.length === 0) return {};
  const isTooLong = distinct.reduce((sum, text) => sum + text.length, 0) > maxWarningCharacters;
  const shown: string[] = [];
  let length = 0;
  for (const text of distinct) {
    const cut = isTooLong ? text.slice(0, 256) : text;
    length += cut.length;
    if (length > maxWarningCharacters) break;
    shown.push(`299 - "${headerText(cut)}"`);
  }
  return { warning: shown };
}

/** A header carries Latin-1 without control characters. */
function headerText(text: string): string {
  return text.replaceAll(/[^ -~\u00a0-\u00ff]/g, '?').replaceAll(/["\\]/g, '\\$&');
}

function parse(json: Uint8Array): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()); // every answer is an object
}
