import { ageColumn, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid, tooMany } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { requestsMax, validateConfiguration, validateSelectors } from '#api/rules/devices/claim.ts';
import { qualifiedNameProblems } from '#api/rules/names.ts';
import type { DeviceClass } from '#api/types/resource-v1.ts';

export const deviceClass = defineKind<DeviceClass>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  message: 'resource.v1.DeviceClass',
  generation: 'spec',
  answersDeleteWithObject: true,
  columns: [nameColumn, ageColumn],
  validate: ({ spec }) => {
    const { selectors = [], config = [], extendedResourceName: name } = spec ?? {};
    return [
      ...validateSelectors(selectors, 'spec.selectors'),
      ...(config.length > requestsMax ? [tooMany('spec.config', config.length, requestsMax)] : []),
      ...config.flatMap((one, index) => validateConfiguration(one, `spec.config[${index}]`)),
      ...(name === undefined ? [] : validateExtendedName(name, 'spec.extendedResourceName')),
    ];
  },
});

/** A resource of somebody else's than Kubernetes, that a quota can name too. */
function validateExtendedName(name: string, field: string): readonly FieldProblem[] {
  const domain = name.slice(0, Math.max(0, name.indexOf('/')));
  const isOurs = domain === '' || domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io') || name.startsWith('requests.');
  const isValid = !isOurs && qualifiedNameProblems(`requests.${name}`).length === 0;
  return isValid ? [] : [invalid(field, name, 'must be a valid extended resource name')];
}
