import type { Client } from '#client/client.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { NodeStrain } from '../eviction/node-strain.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { gatherFacts } from './gather-facts.ts';
import { createNodeAgent, type NodeAgent } from './node-agent.ts';
import type { DeviceAmounts } from './node-resources.ts';
import type { NodeSettings } from './node-status.ts';
import type { RuntimeWatch } from './runtime-state.ts';

export interface AgentParts {
  readonly client: Client;
  readonly runtimeWatch: RuntimeWatch;
  readonly budget: Pick<NodeSettings, 'maxPods' | 'reserved' | 'thresholds'>;
  readonly events: Pick<EventRecorder, 'emit'>;
  readonly strain: NodeStrain;
  /** Of plugins. */
  readonly devices: () => DeviceAmounts;
  /** That the kubelet's server took. */
  readonly port: number;
}

/** The agent of the node, joined with what it asks for. */
export function createAgent(
  config: KubeletConfig,
  host: KubeletHost,
  { client, runtimeWatch, budget, events, strain, devices, port }: AgentParts,
): NodeAgent {
  const { clock, logger, random } = host;
  const { configuration, timings, hasExternalCloud, givenAddresses } = config;
  return createNodeAgent({
    nodeName: config.nodeName,
    client,
    runtimeWatch,
    facts: gatherFacts({
      host: host.host,
      runtime: host.runtime,
      runtimeWatch,
      hostname: config.nodeName,
      addresses: config.nodeAddresses,
      kubeletPort: port,
      kubeletVersion: config.version,
      rootDirectory: config.roots.root,
      strain,
      devices,
      clock,
      logger,
    }),
    settings: {
      ...budget,
      maxImages: configuration.nodeStatusMaxImages,
      countsStorage: configuration.localStorageCapacityIsolation,
      hasExternalCloud,
      isAddressGiven: givenAddresses.length > 0,
    },
    wishes: {
      labels: config.nodeLabels,
      taints: configuration.registerWithTaints,
      providerID: configuration.providerID,
      hasAttachController: configuration.enableControllerAttachDetach,
      hasExternalCloud,
      givenAddresses,
    },
    registers: configuration.registerNode,
    events,
    redial: () => host.redial(),
    timing: {
      statusEveryMs: timings.nodeStatusMs,
      reportEveryMs: configuration.nodeStatusReportFrequency,
      leaseEveryMs: timings.nodeLeaseMs,
      leaseDurationSeconds: configuration.nodeLeaseDurationSeconds,
    },
    clock,
    logger,
    random,
  });
}
