import { isIpv4, isIpv6 } from './rules/names.ts';

export type IpFamily = 'IPv4' | 'IPv6';

export interface IpAddress {
  readonly family: IpFamily;
  readonly value: bigint;
}

/** A CIDR: the first address, and the length of its prefix. */
export interface IpRange {
  readonly first: IpAddress;
  readonly prefix: number;
}

const bitsOf: Readonly<Record<IpFamily, number>> = { IPv4: 32, IPv6: 128 };
const mappedPrefix = 0xffffn;

/** Strict: no leading zeros. An IPv4 address in IPv6 clothes is what it stands for. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIpv4(text)) return { family: 'IPv4', value: ipv4Value(text) };
  if (!isIpv6(text)) return undefined;
  const value = ipv6Value(text);
  return value >> 32n === mappedPrefix ? { family: 'IPv4', value: value & 0xffff_ffffn } : { family: 'IPv6', value };
}

/** As objects of old may have it: `010.000.000.001`. */
export function parseSloppyIp(text: string): IpAddress | undefined {
  return parseIp(withoutLeadingZeros(text));
}

/** The one way to write an address. */
export function formatIp({ family, value }: IpAddress): string {
  return family === 'IPv4' ? formatIpv4(value) : formatIpv6(value);
}

/** The first address is the one that is written, with the bits beyond the prefix. */
export function parseCidr(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  const first = parseIp(text.slice(0, Math.max(0, slash)));
  const prefixText = text.slice(slash + 1);
  if (first === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return undefined;
  const isMapped = first.family === 'IPv4' && text.includes(':');
  const prefix = Number(prefixText) - (isMapped ? 96 : 0);
  return prefix < 0 || prefix > bitsOf[first.family] ? undefined : { first, prefix };
}

export function parseSloppyCidr(text: string): IpRange | undefined {
  return parseCidr(text.replace(/\/0+(?=\d)/, '/').replace(/^[^/]*/, withoutLeadingZeros));
}

export function formatCidr({ first, prefix }: IpRange): string {
  return `${formatIp(first)}/${prefix}`;
}

/** With the bits beyond the prefix cleared. */
export function maskedRange({ first, prefix }: IpRange): IpRange {
  const hostBits = BigInt(bitsOf[first.family] - prefix);
  return { first: { ...first, value: (first.value >> hostBits) << hostBits }, prefix };
}

/** Number of addresses, those that no host may have included. */
export function sizeOfRange({ first, prefix }: IpRange): bigint {
  return 1n << BigInt(bitsOf[first.family] - prefix);
}

export function rangeContains(range: IpRange, address: IpAddress): boolean {
  const { first } = maskedRange(range);
  return first.family === address.family && address.value >= first.value && address.value < first.value + sizeOfRange(range);
}

export function addressIn(range: IpRange, offset: bigint): IpAddress {
  const { first } = maskedRange(range);
  return { family: first.family, value: first.value + offset };
}

export function isIpv4Mapped(text: string): boolean {
  return text.includes(':') && parseIp(text)?.family === 'IPv4';
}

function withoutLeadingZeros(text: string): string {
  return /^\d+(?:\.\d+){3}$/.test(text) ? text.replaceAll(/(^|\.)0+(?=\d)/g, '$1') : text;
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const last = text.slice(text.lastIndexOf(':') + 1);
  const plain = last.includes('.') ? text.slice(0, -last.length) + groupsOfIpv4(last) : text;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(Number.parseInt(group, 16)), 0n);
}

function groupsOfIpv4(text: string): string {
  const value = ipv4Value(text);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
}

/** RFC 5952: the longest run of zeros, the first of equals, is left out. */
function formatIpv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  let best = { start: 0, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}
