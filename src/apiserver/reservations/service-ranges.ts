import { addressIn, type IpAddress, type IpFamily, type IpRange, parseCidr, rangeContains, sizeOfRange } from '#api/ip-address.ts';
import { serviceCidr as serviceCidrKind } from '#api/kinds/networking/v1/service-cidr.ts';
import type { ServiceCIDR } from '#api/types/networking-v1.ts';
import type { ObjectReader } from '../request/route.ts';

/** The range that the server was started with. */
export const defaultServiceCidrName = 'kubernetes';

/** Ranges that addresses may be taken from, the server's own first. */
export function usableRanges(objects: ObjectReader, family: IpFamily): readonly IpRange[] {
  const usable = objects.list(serviceCidrKind).filter(isUsable);
  const sorted = [...usable.filter(isDefault), ...usable.filter((cidr) => !isDefault(cidr))];
  return sorted.flatMap(({ spec }) => (spec?.cidrs ?? []).map(parseCidr)).filter((range): range is IpRange => range?.first.family === family);
}

/** Numbers of the first and the last address that a Service may have: not the network's own, nor IPv4's broadcast address. */
export function usableOffsets(range: IpRange): { readonly first: bigint; readonly last: bigint } {
  const size = sizeOfRange(range);
  return { first: 1n, last: size - (range.first.family === 'IPv4' ? 2n : 1n) };
}

export function isUsableAddress(range: IpRange, address: IpAddress): boolean {
  if (!rangeContains(range, address)) return false;
  const { first, last } = usableOffsets(range);
  return address.value >= addressIn(range, first).value && address.value <= addressIn(range, last).value;
}

/**
 * How many of the lowest addresses are left for those who ask for one by name, as long as there are others.
 * Source: upstream's reserved band.
 */
export function staticBand(range: IpRange): bigint {
  const size = sizeOfRange(range);
  if (size <= 16n) return 0n;
  const share = size / 16n;
  return share < 16n ? 16n : share > 256n ? 256n : share;
}

function isUsable({ metadata, status }: ServiceCIDR): boolean {
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return isReady && metadata.deletionTimestamp === undefined;
}

function isDefault({ metadata }: ServiceCIDR): boolean {
  return metadata.name === defaultServiceCidrName;
}
