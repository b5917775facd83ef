import { createHash } from 'node:crypto';
import type { ApiResource, ApiSubresource } from './api-resource.ts';
import { type ApiGroup, groupsOf } from './group-order.ts';

const otherPaths = [
  '/.well-known/openid-configuration',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

/** Everything that discovery can answer, made once from what there is. */
export class DiscoveryDocuments {
  readonly #groups: readonly ApiGroup<ApiResource>[];
  readonly #aggregated = new Map<'api' | 'apis', AggregatedDocument>();

  constructor(resources: readonly ApiResource[]) {
    this.#groups = groupsOf(resources);
  }

  /** `/api`, in the old form. @param serverAddress host and port by which the client came */
  coreVersions(serverAddress: string): unknown {
    const versions = this.#groups.find(({ name }) => name === '')?.versions.map(({ version }) => version) ?? [];
    return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] };
  }

  /** `/apis`, in the old form. */
  groupList(): unknown {
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: this.#groups.filter(({ name }) => name !== '').map(groupOf) };
  }

  /** `/apis/<group>`. */
  group(name: string): unknown {
    const group = this.#groups.find((candidate) => candidate.name === name);
    return group === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) };
  }

  /** `/api/v1`, `/apis/<group>/<version>`. */
  resourceList(group: string, version: string): unknown {
    const resources = this.#groups.find(({ name }) => name === group)?.versions.find((candidate) => candidate.version === version)?.resources;
    if (resources === undefined) return undefined;
    const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
    const groupVersion = group === '' ? version : `${group}/${version}`;
    return { kind: 'APIResourceList', ...apiVersion, groupVersion, resources: resources.flatMap(resourceEntries) };
  }

  /** All paths, for `/`. */
  paths(): readonly string[] {
    const ofGroups = this.#groups.flatMap(({ name, versions }) =>
      name === ''
        ? ['/api', ...versions.map(({ version }) => `/api/${version}`)]
        : [`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`)],
    );
    return [...otherPaths, ...ofGroups].sort();
  }

  /** `/api` or `/apis`, aggregated (v2). */
  aggregated(root: 'api' | 'apis'): AggregatedDocument {
    const known = this.#aggregated.get(root);
    if (known !== undefined) return known;
    const items = this.#groups.filter(({ name }) => (name === '') === (root === 'api')).map(aggregatedGroup);
    const document = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
    const json = Buffer.from(`${JSON.stringify(document)}\n`);
    const made = { json, etag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"` };
    this.#aggregated.set(root, made);
    return made;
  }
}

export interface AggregatedDocument {
  readonly json: Uint8Array;
  /** In quotes. */
  readonly etag: string;
}

function groupOf({ name, versions }: ApiGroup<ApiResource>) {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

function resourceEntries(resource: ApiResource): readonly unknown[] {
  const { plural, singular, scope, kind, verbs, shortNames, categories, storageHash } = resource;
  const namespaced = scope === 'Namespaced';
  const entry = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(storageHash === '' ? {} : { storageVersionHash: storageHash }),
  };
  const subresources = resource.subresources.map((subresource) => ({
    name: `${plural}/${subresource.name}`,
    singularName: '',
    namespaced,
    ...otherGroup(resource, subresource),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }));
  return [entry, ...subresources];
}

function otherGroup(resource: ApiResource, { group, version }: ApiSubresource): { readonly group?: string; readonly version?: string } {
  return group === resource.group && version === resource.version ? {} : { group, version };
}

function aggregatedGroup({ name, versions }: ApiGroup<ApiResource>): unknown {
  return {
    metadata: { ...(name === '' ? {} : { name }), creationTimestamp: null },
    versions: versions.map(({ version, resources }) => ({ version, resources: resources.map(aggregatedResource), freshness: 'Current' })),
  };
}

function aggregatedResource(resource: ApiResource): unknown {
  const { group, version, kind, plural, singular, scope, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope,
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources: subresources.map(aggregatedSubresource) } : {}),
  };
}

function aggregatedSubresource({ name, group, version, kind, verbs }: ApiSubresource): unknown {
  return { subresource: name, responseKind: { group, version, kind }, verbs };
}
