import { addressIn, formatCidr, formatIp, type IpAddress, type IpFamily, parseIp, rangeContains } from '#api/ip-address.ts';
import { ipAddress as ipAddressKind } from '#api/kinds/networking/v1/ip-address.ts';
import type { IPAddress } from '#api/types/networking-v1.ts';
import { nowSeconds } from '../verbs/times.ts';
import { candidates } from './candidates.ts';
import { type Holder, isOld, type SupplyContext, storedHoldings } from './holder.ts';
import { isUsableAddress, staticBand, usableOffsets, usableRanges } from './service-ranges.ts';

const familyLabel = 'ipaddress.kubernetes.io/ip-family';
const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
const manager = 'ipallocator.k8s.io';

/** Why an address cannot be had, in upstream's words. */
export type Refusal = string;

/**
 * Addresses of Services. An address is reserved by an IPAddress object that has its name: only one can be stored, whichever server of the
 * store asks, and it outlives every crash.
 */
export class ServiceAddresses {
  readonly #context: SupplyContext;

  constructor(context: SupplyContext) {
    this.#context = context;
  }

  /** @returns undefined: every range is full */
  async takeAny(holder: Holder, family: IpFamily, signal: AbortSignal): Promise<string | undefined> {
    const { registry, objects } = this.#context;
    const index = registry.index(ipAddressKind);
    for (const range of usableRanges(objects, family)) {
      const { first, last } = usableOffsets(range);
      for (const offset of candidates(first, last, staticBand(range))) {
        const name = formatIp(addressIn(range, offset));
        if (index.get(name) === undefined && (await this.#store(name, holder, signal))) return name;
      }
    }
    return undefined;
  }

  /** @returns why not; undefined when the address is the holder's now */
  async take(holder: Holder, address: IpAddress, signal: AbortSignal): Promise<Refusal | undefined> {
    const refusal = this.refusal(address);
    if (refusal !== undefined) return refusal;
    const name = formatIp(address);
    if (await this.#store(name, holder, signal)) return undefined;
    const isFree = (await this.#removeAbandoned(name, signal)) && (await this.#store(name, holder, signal));
    return isFree ? undefined : 'provided IP is already allocated';
  }

  /** Why an address can never be had. */
  refusal(address: IpAddress): Refusal | undefined {
    const ranges = usableRanges(this.#context.objects, address.family).filter((range) => rangeContains(range, address));
    const [range] = ranges;
    if (range === undefined) return 'the provided network does not match the current range';
    if (ranges.some((candidate) => isUsableAddress(candidate, address))) return undefined;
    return `the provided IP (${formatIp(address)}) is not in the valid range. The range of valid IPs is ${formatCidr(range)}`;
  }

  /** What a dry run shows instead of an address that is chosen. */
  placeholder(family: IpFamily): string | undefined {
    const range = usableRanges(this.#context.objects, family)[0];
    return range === undefined ? undefined : formatIp(addressIn(range, 0n));
  }

  /** Nothing happens when the address is another's. */
  async giveBack(holder: Holder, ip: string, signal: AbortSignal): Promise<void> {
    const { registry } = this.#context;
    await registry.upToDate(signal);
    const name = canonical(ip);
    const entry = registry.index(ipAddressKind).get(name);
    if (entry === undefined || !isHeldBy(entry.object() as IPAddress, holder)) return; // the kind's index holds IPAddresses
    await registry.delete(ipAddressKind, name, entry.revision, signal); // in a conflict it is another's already
  }

  /** Gives back what no Service has, and reserves what a Service has without. */
  async repair(owned: ReadonlyMap<string, Holder>, signal: AbortSignal): Promise<void> {
    for (const address of this.#context.objects.list(ipAddressKind)) {
      if (isOurs(address) && !owned.has(address.metadata.name)) await this.#removeAbandoned(address.metadata.name, signal);
    }
    for (const [name, holder] of owned) {
      if (this.#context.registry.index(ipAddressKind).get(name) === undefined) await this.#store(name, holder, signal);
    }
  }

  async #store(name: string, holder: Holder, signal: AbortSignal): Promise<boolean> {
    const { registry, clock, newUid } = this.#context;
    const object: IPAddress = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name,
        uid: newUid(),
        resourceVersion: '', // it gets one when it is stored
        creationTimestamp: nowSeconds(clock),
        labels: { [familyLabel]: parseIp(name)?.family ?? '', [managedByLabel]: manager },
      },
      spec: { parentRef: { group: '', resource: 'services', namespace: holder.namespace, name: holder.name } },
    };
    return (await registry.put(ipAddressKind, name, object, 0, 0, signal)).kind === 'written';
  }

  /** What a crash left: an old reservation for a Service that does not have the address. */
  async #removeAbandoned(name: string, signal: AbortSignal): Promise<boolean> {
    const { registry, clock } = this.#context;
    const entry = registry.index(ipAddressKind).get(name);
    if (entry === undefined) return false;
    const address = entry.object() as IPAddress; // the kind's index holds IPAddresses
    if (!isOurs(address) || !isOld(address.metadata.creationTimestamp, clock)) return false;
    const { namespace = '', name: service } = address.spec.parentRef;
    const held = await storedHoldings(this.#context, { namespace, name: service }, signal);
    if (held.ips.map(canonical).includes(name)) return false;
    return (await registry.delete(ipAddressKind, name, entry.revision, signal)).kind === 'written';
  }
}

/** The name of the IPAddress object of an address that an object has. */
export function canonical(ip: string): string {
  const address = parseIp(ip);
  return address === undefined ? ip : formatIp(address);
}

function isHeldBy({ spec: { parentRef } }: IPAddress, { namespace, name }: Holder): boolean {
  return parentRef.resource === 'services' && (parentRef.group ?? '') === '' && parentRef.namespace === namespace && parentRef.name === name;
}

/** Users have IPAddresses of their own. */
function isOurs({ metadata }: IPAddress): boolean {
  return metadata.labels?.[managedByLabel] === manager;
}
