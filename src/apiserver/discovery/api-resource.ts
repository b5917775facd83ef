import { createHash } from 'node:crypto';
import type { Kind, Subresource } from '#api/kind.ts';
import type { RouteResource } from '../request/route.ts';

/** A resource as discovery shows it. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly verbs: readonly string[];
  /** '' for what is not stored. */
  readonly storageHash: string;
  readonly subresources: readonly ApiSubresource[];
}

export interface ApiSubresource {
  readonly name: string;
  /** What is sent to it or comes from it; may be of another group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export function resourceOfKind(kind: Kind): ApiResource {
  const { group, version, plural, singular, shortNames, categories, scope, verbs } = kind;
  const stored = kind.storedAs?.kind() ?? kind;
  return {
    group,
    version,
    kind: kind.kind,
    plural,
    singular,
    shortNames,
    categories,
    scope,
    verbs,
    // What is stored can be watched.
    storageHash: verbs.includes('watch')
      ? createHash('sha256').update(`${stored.group}/${stored.version}/${stored.kind}`).digest().subarray(0, 8).toString('base64')
      : '',
    subresources: kind.subresources.map((name) => subresourceOf(kind, name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

export function resourceOfRoute(resource: RouteResource): ApiResource {
  return { ...resource, verbs: [...resource.verbs].sort(), categories: [], storageHash: '', subresources: [] };
}

const change = ['get', 'patch', 'update'];

/** Kinds of the bodies that subresources take when it is not the object itself. */
const bodies: Readonly<Partial<Record<Subresource, Omit<ApiSubresource, 'name'>>>> = {
  binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: change },
  exec: { group: '', version: 'v1', kind: 'PodExecOptions', verbs: ['create', 'get'] },
  attach: { group: '', version: 'v1', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
  portforward: { group: '', version: 'v1', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
};

function subresourceOf({ group, version, kind }: Kind, name: Subresource): ApiSubresource {
  const body = bodies[name];
  if (body !== undefined) return { name, ...body };
  switch (name) {
    case 'log':
      return { name, group, version, kind, verbs: ['get'] };
    case 'finalize':
      return { name, group, version, kind, verbs: ['update'] };
    case 'proxy':
      return { name, group, version, kind: `${kind}ProxyOptions`, verbs: ['create', 'delete', 'get', 'patch', 'update'] };
    default:
      return { name, group, version, kind, verbs: change };
  }
}
