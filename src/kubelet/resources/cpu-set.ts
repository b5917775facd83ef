import { InvalidInput } from '#base/errors.ts';

/**
 * The numbers of a list as the kernel writes it: `0-2,7`.
 *
 * @param what names the list in the error
 * @throws {InvalidInput}
 */
export function cpusOf(text: string, what: string): readonly number[] {
  const cpus = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .flatMap((part) => {
      const [, first, last = first] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? [];
      if (first === undefined || last === undefined || Number(last) < Number(first)) {
        throw new InvalidInput({ message: `${what}: ${JSON.stringify(part)} is not a CPU or a range of CPUs`, hint: 'write "0-2,7"' });
      }
      return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
    });
  return [...new Set(cpus)].sort((a, b) => a - b);
}
