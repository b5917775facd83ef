import { type IpAddress, type IpRange, parseCidr, parseIp, rangeContains } from '#api/ip-address.ts';
import type { Condition } from '#api/types/meta-v1.ts';
import type { IPAddress, ServiceCIDR } from '#api/types/networking-v1.ts';

export const SERVICE_CIDR_FINALIZER = 'networking.k8s.io/service-cidr-finalizer';

const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
const manager = 'ipallocator.k8s.io';

export type ServiceCidrPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'protect' }
  | { readonly kind: 'say'; readonly condition: Omit<Condition, 'lastTransitionTime'> }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'release' };

const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const terminating = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

export interface ServiceCidrFacts {
  /** Of the cluster, the one that the plan is for among them or not. */
  readonly cidrs: readonly ServiceCIDR[];
  readonly addresses: readonly IPAddress[];
  readonly nowMs: number;
  /** From its deletion until it may go. */
  readonly graceMs: number;
}

/** A range can be used once it is protected, and goes when no address needs it any more. */
export function planServiceCidr(cidr: ServiceCIDR, { cidrs, addresses, nowMs, graceMs }: ServiceCidrFacts): ServiceCidrPlan {
  const { deletionTimestamp, finalizers = [] } = cidr.metadata;
  const isProtected = finalizers.includes(SERVICE_CIDR_FINALIZER);
  const said = cidr.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (deletionTimestamp === undefined) {
    if (!isProtected) return { kind: 'protect' };
    return said === 'True' ? { kind: 'nothing' } : { kind: 'say', condition: ready };
  }
  if (!isProtected) return { kind: 'nothing' };
  if (isNeeded(cidr, cidrs, addresses)) return said === 'False' ? { kind: 'nothing' } : { kind: 'say', condition: terminating };
  const ms = Date.parse(deletionTimestamp) + graceMs - nowMs;
  return ms > 0 ? { kind: 'wait', ms } : { kind: 'release' };
}

/** Whether a Service has an address of the range that no other range has. */
function isNeeded(cidr: ServiceCIDR, all: readonly ServiceCIDR[], addresses: readonly IPAddress[]): boolean {
  const own = rangesOf(cidr);
  const others = all.filter(({ metadata }) => metadata.uid !== cidr.metadata.uid && metadata.deletionTimestamp === undefined).flatMap(rangesOf);
  const isIn = (address: IpAddress, ranges: readonly IpRange[]) => ranges.some((range) => rangeContains(range, address));
  return addresses.some(({ metadata }) => {
    const address = metadata.labels?.[managedByLabel] === manager ? parseIp(metadata.name) : undefined;
    return address !== undefined && isIn(address, own) && !isIn(address, others);
  });
}

function rangesOf({ spec }: ServiceCIDR): readonly IpRange[] {
  return (spec?.cidrs ?? []).map(parseCidr).filter((range) => range !== undefined);
}
