import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { validateIngressStatusUpdate, validateIngressUpdate, validateNewIngress } from '#api/rules/networking/ingress.ts';
import type { Ingress, IngressRule } from '#api/types/networking-v1.ts';

export const ingress = defineKind<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  scope: 'Namespaced',
  message: 'networking.v1.Ingress',
  shortNames: ['ing'],
  storagePrefix: 'ingress',
  generation: 'spec',
  subresources: ['status'],
  columns: [
    nameColumn,
    column('Class', { description: 'Class of the controller that serves it.', cell: ({ spec }) => spec?.ingressClassName ?? '<none>' }),
    column('Hosts', { description: 'Hosts that it answers for.', cell: ({ spec }) => hostsText(spec?.rules ?? []) }),
    column('Address', { description: 'Where it can be reached.', cell: addressText }),
    column('Ports', { description: 'Ports on which it can be reached.', cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80') }),
    ageColumn,
  ],
  prepareCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  warnings: ({ metadata: { annotations = {} } }, previous) =>
    previous === undefined && Object.hasOwn(annotations, classAnnotation)
      ? [`annotation ${quote(classAnnotation)} is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  validateCreate: validateNewIngress,
  validateUpdate: validateIngressUpdate,
  validateStatusUpdate: validateIngressStatusUpdate,
});

const classAnnotation = 'kubernetes.io/ingress.class';
const maxHosts = 3;

function hostsText(rules: readonly IngressRule[]): string {
  const named = rules.flatMap(({ host = '' }, index) => (host === '' ? [] : [{ host, index }])).slice(0, maxHosts);
  if (named.length === 0) return '*';
  const shown = named.map(({ host }) => host).join(',');
  // As upstream counts: rules without a host too, once three hosts are shown.
  const isCut = named.length === maxHosts && rules.length > (named.at(-1)?.index ?? 0) + 1;
  return isCut ? `${shown} + ${rules.length - maxHosts} more...` : shown;
}

function addressText({ status }: Ingress): string {
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip = '', hostname = '' }) => ip || hostname);
  return [...new Set(ingress.filter((text) => text !== ''))].sort().join(',');
}
