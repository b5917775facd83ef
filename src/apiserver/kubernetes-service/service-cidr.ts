import type { Kind } from '#api/kind.ts';
import { serviceCidr as serviceCidrKind } from '#api/kinds/networking/v1/service-cidr.ts';
import type { KubeObject } from '#api/object.ts';
import type { ServiceCIDR } from '#api/types/networking-v1.ts';
import { ensureExists, serverWriter } from '../bootstrap/ensure-object.ts';
import type { ServerContext } from '../request/context.ts';
import { defaultServiceCidrName as name } from '../reservations/service-ranges.ts';
import { nowSeconds } from '../verbs/times.ts';
import { updateObject } from '../verbs/update-object.ts';

const finalizer = 'networking.k8s.io/service-cidr-finalizer';
const message = 'Kubernetes default Service CIDR is ready';

/** The range that the server was started with becomes an object; Services get no address before it is ready. */
export async function ensureDefaultServiceCidr(context: ServerContext, cidrs: readonly string[], signal: AbortSignal): Promise<void> {
  const wanted = { kind: serviceCidrKind, namespace: '', name, labels: {}, finalizers: [finalizer], fields: { spec: { cidrs } } };
  const isNew = await ensureExists(context, wanted, signal);
  if (!isNew && hasReadiness(context.objects.get(serviceCidrKind, '', name))) return;
  const kind = serviceCidrKind as unknown as Kind; // a kind takes its own objects only, and this is one
  const change = (current: KubeObject): KubeObject => {
    const cidr = current as ServiceCIDR; // see above
    if (hasReadiness(cidr)) return current;
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: nowSeconds(context.clock), reason: '', message };
    const conditions = [...(cidr.status?.conditions ?? []), ready];
    const next: ServiceCIDR = { ...cidr, status: { ...cidr.status, conditions } };
    return next;
  };
  await updateObject(context, { kind, namespace: '', name, subresource: 'status', writer: serverWriter, change }, signal);
}

/** Whether somebody has said already whether it can be used. */
function hasReadiness(cidr: ServiceCIDR | undefined): boolean {
  return cidr?.status?.conditions?.some(({ type }) => type === 'Ready') === true;
}
