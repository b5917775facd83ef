import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import type { StatusError } from '#api/status.ts';
import type { OutputFormat } from './negotiate.ts';
import type { ApiResponse } from './route.ts';

const compress = promisify(gzip);
const compressFromBytes = 128 * 1024;
const newline = Buffer.from('\n');

/** @param json the answer as one JSON text */
export function answer(
  status: number,
  json: Uint8Array,
  format: Pick<OutputFormat, 'encoding' | 'isPretty'>,
  warnings: readonly string[] = [],
): ApiResponse {
  const headers = { 'content-type': format.encoding === 'yaml' ? 'application/yaml' : 'application/json', ...warningHeaders(warnings) };
  if (format.encoding === 'yaml') return { status, headers, body: Buffer.from(stringify(parse(json))) };
  if (format.isPretty) return { status, headers, body: Buffer.from(`${JSON.stringify(parse(json), undefined, 2)}\n`) };
  return { status, headers, body: Buffer.concat([json, newline]) };
}

export function answerObject(
  status: number,
  object: unknown,
  format: Pick<OutputFormat, 'encoding' | 'isPretty'>,
  warnings: readonly string[] = [],
): ApiResponse {
  return answer(status, Buffer.from(JSON.stringify(object)), format, warnings);
}

/** A failure is always plain JSON, whatever form was asked for. */
export function answerFailure(error: StatusError): ApiResponse {
  const { status } = error;
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  const headers = {
    'content-type': 'application/json',
    ...(status.code === 403 ? { 'x-content-type-options': 'nosniff' } : {}),
    ...(retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {}),
  };
  return { status: status.code, headers, body: Buffer.from(`${JSON.stringify(status)}\n`) };
}

export function answerText(status: number, text: string): ApiResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(text) };
}

/** Large answers are compressed for those who take it; streams never are. */
export async function compressed(response: ApiResponse, acceptEncoding: string): Promise<ApiResponse> {
  const { body } = response;
  if (!(body instanceof Uint8Array) || body.byteLength <= compressFromBytes || !/\bgzip\b/.test(acceptEncoding)) return response;
  const headers = { ...response.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
  return { ...response, headers, body: await compress(body, { level: 1 }) };
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

function parse(json: Uint8Array): unknown {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString());
}
