import { InvalidInput } from '#base/errors.ts';

/**
 * The bytes of an address, as certificates carry them.
 *
 * @returns 4 bytes (IPv4) or 16 (IPv6)
 * @throws {InvalidInput} when `text` is no address
 */
export function addressBytes(text: string): Uint8Array {
  const bytes = text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text);
  if (bytes === undefined) throw new InvalidInput({ message: `${JSON.stringify(text)} is not an IP address` });
  return Uint8Array.from(bytes);
}

function ipv4Bytes(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined;
  return parts.map(Number);
}

function ipv6Bytes(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupBytes);
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  if (tail === undefined || head.length + tail.length > 14) return undefined;
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** Groups between colons; the last may be an IPv4 address (`::ffff:10.0.0.1`). */
function groupBytes(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':').map((group) => {
    if (group.includes('.')) return ipv4Bytes(group);
    return /^[0-9a-f]{1,4}$/i.test(group) ? [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff] : undefined;
  });
  return groups.every((group) => group !== undefined) ? groups.flat() : undefined;
}
