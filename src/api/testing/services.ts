import { service as kind } from '#api/kinds/core/v1/service.ts';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';

export const serviceMetadata = {
  name: 'web',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-02T03:04:05Z',
};

/** A Service as a client sends it, with defaults; one port unless the spec says otherwise. */
export function aServiceWith(spec: ServiceSpec, annotations?: Readonly<Record<string, string>>): Service {
  const metadata = annotations === undefined ? serviceMetadata : { ...serviceMetadata, annotations };
  return kind.setDefaults({ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }], ...spec } });
}

/** A new Service as it is before it gets addresses and ports. */
export function aNewService(spec: ServiceSpec, annotations?: Readonly<Record<string, string>>): Service {
  return kind.prepareCreate(aServiceWith(spec, annotations));
}

/** A Service that has its address. */
export function aStoredService(spec: ServiceSpec): Service {
  return aNewService({ clusterIP: '10.96.0.7', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec });
}
