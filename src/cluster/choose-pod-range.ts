import { Unavailable } from '#base/errors.ts';
import { formatRange, type Ipv4Range, parseRange, rangesOverlap, subrange } from './ipv4-range.ts';

/** All clusters of a host share this; it is rarely used by others, and leaves 10.0.0.0 to 10.63.255.255 to offices and clouds. */
const clusterSpace = parseRange('10.64.0.0/10');
const clusterPrefix = 20;
const nodePrefix = 24;

/**
 * The pod range of a cluster: where its name's hash says, or the next one that nobody has.
 *
 * @param taken ranges of other clusters and of the host's routes
 * @throws {Unavailable} when all 1024 are taken
 */
export function choosePodRange(hash: string, taken: readonly string[]): string {
  return chooseRange(Number.parseInt(hash, 16), taken);
}

/** The range of a cluster's services, elsewhere than its pods. @param taken as above, with the range of its own pods @throws {Unavailable} */
export function chooseServiceRange(hash: string, taken: readonly string[]): string {
  return chooseRange(Math.floor(Number.parseInt(hash, 16) / rangeCount), taken);
}

const rangeCount = 2 ** (clusterPrefix - clusterSpace.prefix);

function chooseRange(wish: number, taken: readonly string[]): string {
  const others = taken.map(parseRange);
  const start = wish % rangeCount;
  for (let step = 0; step < rangeCount; step += 1) {
    const candidate = subrange(clusterSpace, clusterPrefix, start + step);
    if (!others.some((range) => rangesOverlap(candidate, range))) return formatRange(candidate);
  }
  throw new Unavailable({ message: 'every range of 10.64.0.0/10 is taken on this host', hint: 'give a free one with --pod-cidr' });
}

/** The first node's part of a cluster's range. */
export function nodeRangeOf(podCIDR: string): string {
  const range = parseRange(podCIDR);
  return formatRange(subrange(range, Math.max(range.prefix, nodePrefix), 0));
}

/** The address of the bridge: the first of the node's range, as host-local assumes. With prefix length. */
export function bridgeAddressOf(nodePodCIDR: string): string {
  return addressWithPrefix(parseRange(nodePodCIDR), 1);
}

/** The first address of the service range, without prefix length: the `kubernetes` Service. */
export function firstAddressOf(range: string): string {
  return addressWithPrefix(parseRange(range), 1).replace(/\/.*/, '');
}

function addressWithPrefix(range: Ipv4Range, offset: number): string {
  return formatRange({ first: range.first + offset, prefix: range.prefix });
}
