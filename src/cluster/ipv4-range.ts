import { InvalidInput } from '#base/errors.ts';

/** An IPv4 range: the first address as a number, and the length of its prefix. */
export interface Ipv4Range {
  readonly first: number;
  readonly prefix: number;
}

/** @throws {InvalidInput} unless the text is an IPv4 CIDR without bits beyond its prefix */
export function parseRange(text: string): Ipv4Range {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  const numbers = match?.slice(1).map(Number) ?? [];
  const prefix = numbers[4];
  if (prefix === undefined || prefix > 32 || numbers.slice(0, 4).some((part) => part > 255)) {
    throw new InvalidInput({ message: `${JSON.stringify(text)} is not an IPv4 range such as 10.64.0.0/20` });
  }
  const first = numbers.slice(0, 4).reduce((sum, part) => sum * 256 + part, 0);
  if (first % sizeOf(prefix) !== 0) {
    throw new InvalidInput({
      message: `${text} has bits set beyond its prefix`,
      hint: `did you mean ${formatAddress(first - (first % sizeOf(prefix)))}/${prefix}?`,
    });
  }
  return { first, prefix };
}

export function formatRange(range: Ipv4Range): string {
  return `${formatAddress(range.first)}/${range.prefix}`;
}

export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

export function rangesOverlap(left: Ipv4Range, right: Ipv4Range): boolean {
  return left.first < right.first + sizeOf(right.prefix) && right.first < left.first + sizeOf(left.prefix);
}

/** The `index`-th part of `range` when it is cut in parts of `prefix`; counts on from the start after the last one. */
export function subrange(range: Ipv4Range, prefix: number, index: number): Ipv4Range {
  const parts = 2 ** (prefix - range.prefix);
  return { first: range.first + (index % parts) * sizeOf(prefix), prefix };
}

function sizeOf(prefix: number): number {
  return 2 ** (32 - prefix);
}
