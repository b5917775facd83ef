import { ipAddress as ipAddressKind } from '#api/kinds/networking/v1/ip-address.ts';
import { serviceCidr as serviceCidrKind } from '#api/kinds/networking/v1/service-cidr.ts';
import type { ServiceCIDR } from '#api/types/networking-v1.ts';
import { isNotFound } from '#client/api-error.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { planServiceCidr, SERVICE_CIDR_FINALIZER, type ServiceCidrPlan } from './plan.ts';

/** Says which ranges of Services can be used, and keeps those whose addresses are in use. */
export async function runServiceCidrController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const cidrs = await syncedInformer(context, serviceCidrKind, signal);
  const addresses = await syncedInformer(context, ipAddressKind, signal);
  const queue = new WorkQueue({ ...context, workers: 1 });
  const addAll = () => {
    for (const { metadata } of cidrs.list()) queue.add(metadata.name);
  };
  cidrs.subscribe(addAll); // one range may stand in for another
  addresses.subscribe(({ type }) => {
    if (type === 'deleted') addAll();
  });
  await queue.run(async (name, inner) => {
    const cidr = cidrs.get(name);
    if (cidr === undefined) return;
    const { clock, timings } = context;
    const facts = { cidrs: cidrs.list(), addresses: addresses.list(), nowMs: clock.now(), graceMs: timings.serviceCidrGraceMs };
    const plan = planServiceCidr(cidr, facts);
    if (plan.kind === 'wait') queue.addAfter(name, plan.ms);
    else await carryOut(context, cidr, plan, inner);
  }, signal);
}

async function carryOut(context: ControllerContext, cidr: ServiceCIDR, plan: ServiceCidrPlan, signal: AbortSignal): Promise<void> {
  const { client, clock } = context;
  const { finalizers = [] } = cidr.metadata;
  try {
    if (plan.kind === 'say') {
      const others = (cidr.status?.conditions ?? []).filter(({ type }) => type !== plan.condition.type);
      const conditions = [...others, { ...plan.condition, lastTransitionTime: timestamp(clock.now()) }];
      await client.updateStatus(serviceCidrKind, { ...cidr, status: { ...cidr.status, conditions } }, signal);
    } else if (plan.kind === 'protect' || plan.kind === 'release') {
      const others = finalizers.filter((finalizer) => finalizer !== SERVICE_CIDR_FINALIZER);
      const next = plan.kind === 'protect' ? [...others, SERVICE_CIDR_FINALIZER] : others;
      await client.update(serviceCidrKind, { ...cidr, metadata: { ...cidr.metadata, finalizers: next } }, signal);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error; // a conflict too: the queue looks again at what is there now
  }
}
