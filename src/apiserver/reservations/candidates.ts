import { randomInt } from 'node:crypto';

/** As far as the random numbers go; no range is ever that full. */
const randomMax = 2n ** 47n;

/**
 * The numbers from `first` to `last` in the order in which they are tried: from a random one above the band upwards, the rest of them, then
 * the band. So two servers that look at the same time rarely want the same one, and one that was given back is not given away at once.
 *
 * @param band how many of the lowest come last
 */
export function* candidates(first: bigint, last: bigint, band: bigint): Generator<bigint, void, void> {
  const dynamicFirst = first + band > last ? first : first + band;
  const count = last - dynamicFirst + 1n;
  if (count > 0n) {
    const start = BigInt(randomInt(Number(count < randomMax ? count : randomMax)));
    for (let step = 0n; step < count; step++) yield dynamicFirst + ((start + step) % count);
  }
  for (let number = first; number < dynamicFirst; number++) yield number;
}
