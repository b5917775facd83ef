import type { Registry } from 'prom-client';
import { qosClass } from '#api/pod/qos.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { KubeletConfig, KubeletHost } from '../../kubelet-config.ts';
import { createResizeMetrics } from '../../metrics/resize-metrics.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { RuntimeCache } from '../../runtime/runtime-cache.ts';
import { isCritical } from '../critical.ts';
import type { NodeCgroups } from '../node-cgroups.ts';
import { PodResizer } from './pod-resizer.ts';
import { SizeRecords } from './size-records.ts';

/** Upstream's numbers. */
const timing = { errorRetryMs: 10_000, deferredRetryMs: 180_000 };

export interface ResizerParts {
  readonly cgroups: NodeCgroups;
  readonly cache: Pick<RuntimeCache, 'get'>;
  readonly events: EventsPort;
  readonly registry: Registry;
}

/** @param others what the room and the workers of the pods do for it */
export function createPodResizer(
  { configuration, roots }: Pick<KubeletConfig, 'configuration' | 'roots'>,
  host: Pick<KubeletHost, 'files' | 'runtime' | 'clock'>,
  { cgroups: { options, host: cgroups }, cache, events, registry }: ResizerParts,
  others: { readonly heldPod: (podUid: string) => Pod | undefined; readonly wake: (podUid: string) => void },
): PodResizer {
  const { cpuManagerPolicy, memoryManagerPolicy } = configuration;
  const { limitedSwap, cgroupVersion } = options.container;
  const maySwap = (pod: Pod) => limitedSwap && cgroupVersion === 'v2' && qosClass(pod) === 'Burstable' && !isCritical(pod);
  const resizer: PodResizer = new PodResizer({
    asked: createResizeMetrics(registry, () => resizer.figures),
    records: new SizeRecords(host.files, roots),
    cgroups,
    runtime: host.runtime,
    options,
    facts: { cpuManagerPolicy, memoryManagerPolicy, maySwap },
    events,
    observe: (podUid) => cache.get(podUid),
    clock: host.clock,
    timing,
    ...others,
  });
  return resizer;
}
