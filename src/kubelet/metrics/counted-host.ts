import { Registry } from 'prom-client';
import type { KubeletHost } from '../kubelet-config.ts';
import { withCgroupMetrics } from './cgroup-metrics.ts';
import { withRuntimeMetrics } from './runtime-metrics.ts';

/** A host with a registry in which its calls are counted. */
export interface CountedHost extends KubeletHost {
  readonly registry: Registry;
}

export function countedHost(host: KubeletHost): CountedHost {
  const { clock, registry = new Registry() } = host;
  return {
    ...host,
    registry,
    runtime: withRuntimeMetrics(host.runtime, registry, clock),
    cgroups: withCgroupMetrics(host.cgroups, registry, clock),
  };
}
