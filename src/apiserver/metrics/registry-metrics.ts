import { groupResourceOf } from '#api/kind.ts';
import type { Registry } from '../registry/registry.ts';
import { type Family, readGauge } from './families.ts';

/** What monitoring asks of an API server about its objects. */
export function registryMetrics(registry: Registry): readonly Family[] {
  return [
    readGauge('apiserver_resource_objects', 'Number of stored objects at the time of the last check, by kind.', () =>
      registry.sizes().map(({ kind: { group, plural }, size }) => ({ labels: { group, resource: plural }, value: size })),
    ),
    readGauge('apiserver_storage_objects', 'Number of stored objects at the time of the last check, by kind; the older form.', () =>
      registry.sizes().map(({ kind, size }) => ({ labels: { resource: groupResourceOf(kind) }, value: size })),
    ),
    readGauge('apiserver_watch_cache_resource_version', 'Revision that the objects in memory have reached, by kind.', () =>
      registry.sizes().map(({ kind: { group, plural } }) => ({ labels: { group, resource: plural }, value: registry.revision })),
    ),
  ];
}
