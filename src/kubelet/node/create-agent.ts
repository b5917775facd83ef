import type { Client } from '#client/client.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { NodeStrain } from '../eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { gatherFacts } from './gather-facts.ts';
import { createNodeAgent, defaultNodeTiming, type NodeAgent } from './node-agent.ts';
import type { NodeSettings } from './node-status.ts';
import type { RuntimeWatch } from './runtime-state.ts';

export interface AgentParts {
  readonly client: Client;
  readonly runtimeWatch: RuntimeWatch;
  readonly budget: Omit<NodeSettings, 'maxImages'>;
  readonly events: Pick<EventRecorder, 'emit'>;
  readonly strain: NodeStrain;
  /** That the kubelet's server took. */
  readonly port: number;
}

/** The agent of the node, joined with what it asks for. */
export function createAgent(config: KubeletConfig, host: KubeletHost, { client, runtimeWatch, budget, events, strain, port }: AgentParts): NodeAgent {
  const { clock, logger, random } = host;
  const { configuration, timings } = config;
  return createNodeAgent({
    nodeName: config.nodeName,
    client,
    runtimeWatch,
    facts: gatherFacts({
      host: host.host,
      runtime: host.runtime,
      runtimeWatch,
      hostname: config.nodeName,
      address: config.nodeAddress,
      kubeletPort: port,
      kubeletVersion: config.version,
      rootDirectory: config.roots.root,
      strain,
      clock,
      logger,
    }),
    settings: { ...budget, maxImages: configuration.nodeStatusMaxImages },
    events,
    labels: config.nodeLabels,
    taints: configuration.registerWithTaints,
    timing: { ...defaultNodeTiming, statusEveryMs: timings.nodeStatusMs, leaseEveryMs: timings.nodeLeaseMs },
    clock,
    logger,
    random,
  });
}
