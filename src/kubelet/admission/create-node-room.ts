import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { quantityToNumber } from '#api/quantity.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import type { NodeAllocations } from '../allocations/create-allocations.ts';
import type { NodeStrain } from '../eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { withAllocationMetrics } from '../metrics/allocation-metrics.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import { putOut } from '../pod-workers/put-out.ts';
import type { HostFacts } from '../ports/host.ts';
import type { PodCounts } from '../ports/pod-counts.ts';
import { createPodResizer, type ResizerParts } from '../resources/resize/create-resizer.ts';
import type { PodResizer } from '../resources/resize/pod-resizer.ts';
import { refOf } from '../runtime/pod-ref.ts';
import type { AdmittingNode } from './admission-input.ts';
import { NodeRoom } from './node-room.ts';
import { preemptingMessage, preemptingReason } from './preemption.ts';
import { checkAllowedSysctls } from './sysctls.ts';

/** Room for pods, and what pods that have it may have more or less of. */
export interface NodeSpace {
  readonly room: NodeRoom;
  readonly resizer: PodResizer;
}

export interface NodeRoomParts extends ResizerParts {
  readonly hostFacts: Pick<HostFacts, 'hasAppArmor' | 'kernelVersion'>;
  readonly node: () => Node | undefined;
  readonly strain: NodeStrain;
  readonly podMetrics: Pick<PodCounts, 'preempted'>;
  readonly allocations: Pick<NodeAllocations, 'port' | 'meters' | 'given'>;
}

/** @throws {InvalidInput} when sysctls are allowed that no pod may set */
export function createNodeSpace(
  config: KubeletConfig,
  host: KubeletHost,
  parts: NodeRoomParts,
  engine: () => { readonly workers: PodWorkers },
): NodeSpace {
  const { client, clock } = host;
  const { hostFacts, events, node, strain, allocations, registry } = parts;
  let fresh: Node | undefined;
  const preempt = async (victim: Pod, signal: AbortSignal): Promise<void> => {
    events.emit(refOf(victim), { type: 'Warning', reason: preemptingReason, message: preemptingMessage });
    const outcome = { isDisruption: true, keepsSuccess: false, disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.' };
    const refusal = { reason: preemptingReason, message: preemptingMessage, putOut: outcome };
    await putOut(victim, refusal, undefined, { workers: engine().workers, events, clock }, signal);
  };
  const resizer = createPodResizer(config, host, parts, { heldPod: (uid) => room.held(uid), wake: (uid) => engine().workers.wake(uid) });
  const room: NodeRoom = new NodeRoom({
    node: () => admittingNode(newerOf(node(), fresh), hostFacts, strain, allocations.given()),
    refreshNode: async (signal) => {
      fresh = await client.get(nodeKind, { name: config.nodeName }, signal);
    },
    allowedSysctls: checkAllowedSysctls(config.configuration.allowedUnsafeSysctls),
    preempt: async (victims, resource, signal) => {
      for (const _ of victims) parts.podMetrics.preempted(resource);
      await Promise.all(victims.map((victim) => preempt(victim, signal)));
    },
    isGone: (podUid) => engine().workers.isGone(podUid),
    resizes: resizer,
    allocations: withAllocationMetrics(allocations.port, registry, { clock, ...allocations.meters }),
  });
  return { room, resizer };
}

function newerOf(a: Node | undefined, b: Node | undefined): Node | undefined {
  return Number(b?.metadata.resourceVersion ?? -1) > Number(a?.metadata.resourceVersion ?? -1) ? b : a;
}

function admittingNode(
  node: Node | undefined,
  host: NodeRoomParts['hostFacts'],
  { pressures, isShuttingDown }: NodeStrain,
  given: Readonly<Record<string, number>>,
): AdmittingNode | undefined {
  if (node === undefined) return undefined;
  const { spec, status = {} } = node;
  return {
    name: node.metadata.name,
    labels: node.metadata.labels ?? {},
    allocatable: withGiven(status.allocatable ?? {}, given),
    taints: spec?.taints ?? [],
    pressures: pressures.get(),
    hasSupplementalGroupsPolicy: status.features?.supplementalGroupsPolicy === true,
    hasAppArmor: host.hasAppArmor,
    kernelVersion: host.kernelVersion,
    isShuttingDown: isShuttingDown.get(),
  };
}

/** Devices that pods have are there for them, also while their plugin is not back after a restart. */
function withGiven(allocatable: Readonly<Record<string, string>>, given: Readonly<Record<string, number>>): Readonly<Record<string, string>> {
  const short = Object.entries(given).filter(([name, count]) => quantityToNumber(allocatable[name] ?? '0') < count);
  return short.length === 0 ? allocatable : { ...allocatable, ...Object.fromEntries(short.map(([name, count]) => [name, String(count)])) };
}
