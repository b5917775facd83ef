import type { APIGroupDiscovery } from '#api/types/apidiscovery-v2.ts';
import type { DiscoveredKind } from './client.ts';

/** The answer to `/api` and `/apis` that has everything in it. */
export interface DiscoveryAnswer {
  readonly items?: readonly APIGroupDiscovery[] | undefined;
}

export const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function kindsOf(answer: DiscoveryAnswer | undefined): readonly DiscoveredKind[] {
  return (answer?.items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version = '', resources = [] }) =>
      resources.map(({ resource = '', responseKind, scope, verbs = [] }) => ({
        group: metadata?.name ?? '',
        version,
        kind: responseKind?.kind ?? '',
        plural: resource,
        scope: scope === 'Namespaced' ? ('Namespaced' as const) : ('Cluster' as const),
        verbs,
      })),
    ),
  );
}
