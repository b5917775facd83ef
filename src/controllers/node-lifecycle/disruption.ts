import type { Node } from '#api/types/core-v1.ts';
import { readiness } from './plan.ts';

/** How bad it is in a zone: when most of it is gone, the network is the likelier culprit than the nodes. */
export type ZoneState = 'normal' | 'partly-disrupted' | 'fully-disrupted';

/** Upstream's. */
const DISRUPTED_SHARE = 0.55;
const LARGE_ZONE = 50;
const SLOWER_BY = 10;

export function zoneOf(node: Node): string {
  const labels = node.metadata.labels ?? {};
  return `${labels['topology.kubernetes.io/region'] ?? ''}/${labels['topology.kubernetes.io/zone'] ?? ''}`;
}

export interface Zones {
  /** No zone has a ready node: nobody is driven away then. */
  readonly allFullyDisrupted: boolean;
  /** Between two nodes of the zone that get a `NoExecute` taint; `Infinity`: none does. */
  evictionIntervalMs(zone: string, normalMs: number): number;
}

/** What the nodes say about their zones. Pure. */
export function zonesOf(nodes: readonly Node[]): Zones {
  const counted = nodes.filter((node) => !('node.kubernetes.io/exclude-disruption' in (node.metadata.labels ?? {})));
  const zones = new Map<string, Node[]>();
  for (const node of counted) zones.set(zoneOf(node), [...(zones.get(zoneOf(node)) ?? []), node]);
  return {
    allFullyDisrupted: counted.length > 0 && [...zones.values()].every((zone) => stateOf(zone) === 'fully-disrupted'),
    evictionIntervalMs(zone, normalMs) {
      const members = zones.get(zone) ?? [];
      if (stateOf(members) !== 'partly-disrupted') return normalMs;
      return members.length > LARGE_ZONE ? normalMs * SLOWER_BY : Number.POSITIVE_INFINITY;
    },
  };
}

function stateOf(zone: readonly Node[]): ZoneState {
  const unready = zone.filter((node) => readiness(node) !== 'True').length;
  if (zone.length > 0 && unready === zone.length) return 'fully-disrupted';
  return unready > 2 && unready / zone.length >= DISRUPTED_SHARE ? 'partly-disrupted' : 'normal';
}
