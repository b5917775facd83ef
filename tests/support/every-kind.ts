import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#api/object.ts';
import { runProgram } from '#testing/run-program.ts';
import { outputOf } from './kubectl.ts';

const file = fileURLToPath(new URL('every-kind.yaml', import.meta.url));

/** One small object of every kind that is stored, to be created in this order in the namespace `default`. */
export async function everyKind(): Promise<readonly KubeObject[]> {
  const request = Buffer.from(await certificateRequest('walker')).toString('base64');
  const text = (await readFile(file, 'utf8')).replace('REQUEST', request);
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

/** The same as a file for `kubectl -f`. */
export async function writeEveryKind(path: string, objects: readonly KubeObject[]): Promise<void> {
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
}

/** A new key's request, as PEM. */
export async function certificateRequest(user: string, group = 'walkers', keyFile = '/dev/null'): Promise<string> {
  const words = ['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  return outputOf(await runProgram([...words, '-subj', `/O=${group}/CN=${user}`, '-keyout', keyFile], 30_000));
}
