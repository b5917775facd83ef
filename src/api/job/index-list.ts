import { InvalidInput } from '#base/errors.ts';
import { quote } from '../quote.ts';

/** First and last index of a run. */
export type IndexRun = readonly [number, number];

/**
 * The indexes of an Indexed job: `1,3-5,7`, rising.
 *
 * @param completions above every index
 * @throws {InvalidInput} with upstream's message
 */
export function parseIndexes(text: string, completions: number): readonly IndexRun[] {
  const runs: IndexRun[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const run = parseRun(part, completions);
    const last = runs.at(-1)?.[1];
    if (last !== undefined && last >= run[0]) throw bad(`non-increasing order, previous: ${last}, current: ${run[0]}`);
    runs.push(run);
  }
  return runs;
}

export function countIndexes(runs: readonly IndexRun[]): number {
  return runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** The first index that is in both, if there is one. */
export function sharedIndex(a: readonly IndexRun[], b: readonly IndexRun[]): number | undefined {
  for (const [first, last] of a) {
    const other = b.find(([otherFirst, otherLast]) => first <= otherLast && otherFirst <= last);
    if (other !== undefined) return Math.max(first, other[0]);
  }
  return undefined;
}

function parseRun(part: string, completions: number): IndexRun {
  const limits = part.split('-');
  if (limits.length > 2) {
    throw bad(`the fragment ${quote(part)} violates the requirement that an index interval can have at most two parts separated by '-'`);
  }
  const [first = 0, last = first] = limits.map((limit) => parseIndex(limit, completions));
  if (limits.length === 2 && first >= last) throw bad(`non-increasing order, previous: ${first}, current: ${last}`);
  return [first, last];
}

function parseIndex(text: string, completions: number): number {
  if (!/^[-+]?\d+$/.test(text)) throw bad(`cannot convert string to integer for index: ${quote(text)}`);
  const index = Number(text);
  if (index >= completions) throw bad(`too large index: ${quote(text)}`);
  return index;
}

function bad(message: string): InvalidInput {
  return new InvalidInput({ message });
}
