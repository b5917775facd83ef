import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { labelsText } from '#api/label-selector-print.ts';
import { defaultService } from '#api/rules/service/default-service.ts';
import { serviceWarnings, validateService, validateServiceStatusUpdate, validateServiceUpdate } from '#api/rules/service/service.ts';
import { prepareServiceUpdate, withClusterIpList } from '#api/rules/service/service-update.ts';
import type { Service, ServicePort } from '#api/types/core-v1.ts';

export const service = defineKind<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
  message: 'core.v1.Service',
  shortNames: ['svc'],
  categories: ['all'],
  nameRule: 'label',
  subresources: ['status', 'proxy'],
  storagePrefix: 'services/specs',
  createsOnUpdate: true,
  answersDeleteWithObject: true,
  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '',
    'spec.type': ({ spec }) => spec?.type ?? '',
  },
  columns: [
    nameColumn,
    column('Type', { description: 'How the service is exposed.', cell: ({ spec }) => spec?.type ?? '' }),
    column('Cluster-IP', { description: 'Address of the service inside of the cluster.', cell: ({ spec }) => spec?.clusterIPs?.[0] ?? '<none>' }),
    column('External-IP', { description: 'Where others reach the service.', cell: externalText }),
    column('Port(s)', { description: 'Ports that the service offers.', cell: ({ spec }) => portsText(spec?.ports ?? []) }),
    ageColumn,
    column('Selector', {
      isWide: true,
      description: 'Labels of the pods behind the service.',
      cell: ({ spec }) => labelsText(spec?.selector ?? {}) || '<none>',
    }),
  ],
  setDefaults: defaultService,
  warnings: serviceWarnings,
  prepareCreate: (service) => ({ ...withClusterIpList(service), status: { loadBalancer: {} } }),
  prepareUpdate: prepareServiceUpdate,
  validateCreate: (service) => validateService(service, undefined),
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: validateServiceStatusUpdate,
});

function externalText(service: Service): string {
  const { type, externalIPs = [], externalName = '' } = service.spec ?? {};
  if (type === 'ExternalName') return externalName;
  if (type !== 'LoadBalancer') return externalIPs.length > 0 ? externalIPs.join(',') : '<none>';
  const ingress = (service.status?.loadBalancer?.ingress ?? []).map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  const all = [...new Set(ingress)].sort().concat(externalIPs);
  return all.length > 0 ? all.join(',') : '<pending>';
}

function portsText(ports: readonly ServicePort[]): string {
  if (ports.length === 0) return '<none>';
  return ports.map(({ port, nodePort = 0, protocol = '' }) => (nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`)).join(',');
}
