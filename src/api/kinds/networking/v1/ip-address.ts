import { ageColumn, column, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { pathSegmentProblems, subdomainProblems } from '#api/rules/names.ts';
import type { IPAddress, ParentReference } from '#api/types/networking-v1.ts';

/** An address that somebody has: its name is the address, so that nobody else can have it. */
export const ipAddress = defineKind<IPAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  scope: 'Cluster',
  message: 'networking.v1.IPAddress',
  shortNames: ['ip'],
  nameRule: 'ip-address',
  columns: [
    nameColumn,
    column('ParentRef', { description: 'Object that the address belongs to.', cell: ({ spec }) => parentText(spec?.parentRef) }),
    ageColumn,
  ],
  validateCreate: ({ spec }) => validateParent(spec?.parentRef, 'spec.parentRef'),
  validateUpdate: (next, previous) => validateImmutable(next.spec?.parentRef, previous.spec?.parentRef, 'spec.parentRef'),
});

function validateParent(parent: ParentReference | undefined, field: string): readonly FieldProblem[] {
  if (parent === undefined) return [required(field)];
  const { group = '', resource = '', namespace = '', name = '' } = parent;
  const segment = (key: string, text: string) => pathSegmentProblems(text).map((problem) => invalid(`${field}.${key}`, text, problem));
  return [
    ...(group === '' ? [] : subdomainProblems(group).map((problem) => invalid(`${field}.group`, group, problem))),
    ...(resource === '' ? [required(`${field}.resource`)] : segment('resource', resource)),
    ...(name === '' ? [required(`${field}.name`)] : segment('name', name)),
    ...segment('namespace', namespace),
  ];
}

function parentText(parent: ParentReference | undefined): string {
  if (parent === undefined) return '<none>';
  const { group = '', resource, namespace = '', name } = parent;
  return [group === '' ? resource : `${resource}.${group}`, namespace, name].filter((part) => part !== '').join('/');
}
