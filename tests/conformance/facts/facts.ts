import { readFileSync } from 'node:fs';

/** The rows of a table of facts, without its comments. */
export function factsOf(file: 'types' | 'resources'): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`${file}.tsv`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
}
