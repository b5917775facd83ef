import { type FieldProblem, invalid, tooLong } from '../field-problem.ts';
import { byteLength } from './checks.ts';
import { configKeyProblems } from './names.ts';

/** What a ConfigMap or a Secret may hold in all. */
export const configMaxBytes = 1024 * 1024;

export function validateConfigKeys(data: Readonly<Record<string, string>>, field: string): readonly FieldProblem[] {
  return Object.keys(data).flatMap((key) => configKeyProblems(key).map((problem) => invalid(`${field}[${key}]`, key, problem)));
}

/** @param texts plain values @param encoded values in base64 */
export function validateConfigSize(texts: readonly string[], encoded: readonly string[], field: string): readonly FieldProblem[] {
  const plainBytes = texts.reduce((sum, text) => sum + byteLength(text), 0);
  const encodedBytes = encoded.reduce((sum, text) => sum + decodedLength(text), 0);
  return plainBytes + encodedBytes > configMaxBytes ? [tooLong(field, configMaxBytes)] : [];
}

function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
