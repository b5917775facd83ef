import { messageOf } from '#base/errors.ts';
import type { NodeAgent } from '../node/node-agent.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { PodSources } from '../sources/pod-sources.ts';
import { type CertificatesInUse, registerCertificateTtl } from './certificate-metrics.ts';
import type { CountedHost } from './counted-host.ts';
import { timeNodeStartup } from './node-startup-metrics.ts';
import { registerStateMetrics } from './state-metrics.ts';
import { countTerminations } from './termination-metrics.ts';

export interface WatchedNode {
  readonly nodeName: string;
  readonly version: string;
  readonly kubeletStartedAtMs: number;
  readonly cache: RuntimeCache;
  readonly workers: PodWorkers;
  readonly sources: Pick<PodSources, 'mirrors'>;
  readonly agent: Pick<NodeAgent, 'node'>;
  readonly certificates: CertificatesInUse;
}

/** What is counted of the node without its parts' knowing. */
export function watchNode({ registry, cgroups, usage, clock, logger }: CountedHost, node: WatchedNode, signal: AbortSignal): void {
  const { nodeName, version, kubeletStartedAtMs, cache, workers, sources, agent, certificates } = node;
  registerStateMetrics(registry, {
    nodeName,
    version,
    cgroupVersion: cgroups.version,
    workers: () => workers.figures(),
    runtimePods: () => cache.all(),
    mirrors: sources.mirrors,
  });
  countTerminations(registry, cache, (uid) => workers.standingOf(uid)?.pod);
  registerCertificateTtl(registry, certificates, clock);
  const registeringAtMs = clock.now();
  usage.host(signal).then(
    ({ bootedAtMs }) => timeNodeStartup(registry, { hostBootedAtMs: bootedAtMs, kubeletStartedAtMs, registeringAtMs }, agent.node, clock),
    (error: unknown) => logger.warn('the start of the node is not timed', { error: messageOf(error) }),
  );
}
