import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#base/log.ts';
import { gatesWithoutEffect } from './feature-gates.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';
import { kubeletFields } from './kubelet-configuration.ts';

/** What a field that is taken does not do. Fields that are not here do what they do upstream. */
export interface Shortcoming {
  readonly kind: 'no effect' | 'in part' | 'refused';
  readonly why: string;
}

const noEffect = (why: string): Shortcoming => ({ kind: 'no effect', why });
const inPart = (why: string): Shortcoming => ({ kind: 'in part', why });
const refused = (why: string): Shortcoming => ({ kind: 'refused', why });

export const shortcomings: Readonly<Partial<Record<keyof KubeletConfiguration, Shortcoming>>> = {
  configMapAndSecretChangeDetectionStrategy: noEffect('changes are always watched for, which is what Watch says'),
  contentType: noEffect('requests to the API server are in JSON'),
  draManagerReconcilePeriod: noEffect('there is no dynamic resource allocation'),
  enableContentionProfiling: noEffect('it is about the scheduler of Go programs'),
  featureGates: inPart('every gate is checked; one that asks for what this kubelet does not do changes nothing and is told in the log'),
  hairpinMode: noEffect('it is the affair of the network plugin, as with every CRI runtime'),
  iptablesDropBit: noEffect('no rule uses it, as upstream'),
  iptablesMasqueradeBit: noEffect('no rule uses it, as upstream'),
  kernelMemcgNotification: noEffect('memory is looked at in every round'),
  kubeAPIBurst: noEffect('requests to the API server are not paced'),
  kubeAPIQPS: noEffect('requests to the API server are not paced'),
  kubeletCgroups: noEffect('the kubelet stays in the cgroup in which it was started'),
  logging: noEffect('the log is JSON, a line an event; KUBERNODE_DEBUG has it say more'),
  makeIPTablesUtilChains: noEffect('no chains are made'),
  maxOpenFiles: noEffect('the limit is the one under which the kubelet was started'),
  podCIDR: noEffect('it is for a kubelet without an API server'),
  protectKernelDefaults: noEffect('the settings of the kernel are neither changed nor checked'),
  qosReserved: noEffect('no memory is reserved for classes of pods'),
  showHiddenMetricsForVersion: noEffect('no metrics are hidden'),
  systemCgroups: noEffect('processes that are in no cgroup stay where they are'),
  tlsCipherSuites: refused('which ciphers are spoken cannot be chosen'),
  tlsMinVersion: refused('only VersionTLS12, the default, can be asked for; clients that speak 1.3 get it'),
  tracing: noEffect('no spans are sent'),
  volumePluginDir: noEffect('there are no FlexVolume plugins'),
};

/** Says at the start what somebody set and will not get. */
export function tellUnmetWishes(configuration: KubeletConfiguration, logger: Pick<Logger, 'warn'>): void {
  for (const wish of unmetWishes(configuration)) logger.warn('a field of the configuration has no effect', { ...wish });
}

export function unmetWishes(configuration: KubeletConfiguration): readonly { readonly field: string; readonly why: string }[] {
  const fields = Object.entries(shortcomings).flatMap(([field, { kind, why }]) => {
    const name = field as keyof KubeletConfiguration; // the table's own keys
    const isAsked = kind === 'no effect' && !isDeepStrictEqual(configuration[name], kubeletFields[name].fallback);
    return isAsked ? [{ field, why }] : [];
  });
  const gates = gatesWithoutEffect(configuration.featureGates).map((name) => ({
    field: `featureGates.${name}`,
    why: 'this kubelet has no such switch',
  }));
  return [...fields, ...gates];
}
