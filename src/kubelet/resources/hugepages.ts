import type { Resources } from '#api/pod/requests.ts';
import { quantityToNumber } from '#api/quantity.ts';

const PREFIX = 'hugepages-';

/**
 * Amounts of huge pages by the kernel's names, each size of the host named, 0 where nothing is asked for.
 *
 * @param sizes as the kernel names them: `2MB`, `1GB`
 */
export function hugepageLimits(amounts: Resources, sizes: readonly string[]): Readonly<Record<string, number>> {
  const asked = [...amounts].filter(([name]) => name.startsWith(PREFIX));
  const bySize = new Map(asked.map(([name, bytes]) => [kernelSize(quantityToNumber(name.slice(PREFIX.length))), bytes]));
  return Object.fromEntries(sizes.map((size) => [size, bySize.get(size) ?? 0]));
}

/** `2097152` is `2MB`: the kernel means powers of two and writes them like this. */
function kernelSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let value = bytes;
  let step = 0;
  while (value % 1024 === 0 && step < units.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${value}${units[step] ?? ''}`;
}
