import { ageColumn, type Column, column, nameColumn } from '../column.ts';
import { changeItems, changePart, fill } from '../copy-on-write.ts';
import { type FieldProblem, invalid, notSupported, required } from '../field-problem.ts';
import type { KubeObject } from '../object.ts';
import type { RoleRef, Subject } from '../types/rbac-v1.ts';
import { pathSegmentProblems, subdomainProblems } from './names.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** What both kinds of bindings have. */
export interface Binding extends KubeObject {
  readonly subjects?: readonly Subject[] | undefined;
  readonly roleRef: RoleRef;
}

export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn,
  column('Role', { description: 'The role that is granted.', cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}` }),
  ageColumn,
  subjectsColumn('Users', 'User', ({ name }) => name),
  subjectsColumn('Groups', 'Group', ({ name }) => name),
  subjectsColumn('ServiceAccounts', 'ServiceAccount', ({ name, namespace = '' }) => `${namespace}/${name}`),
];

function subjectsColumn(name: string, kind: string, text: (subject: Subject) => string): Column<Binding> {
  return column<Binding>(name, {
    isWide: true,
    description: `${name} that are granted the role.`,
    cell: ({ subjects = [] }) =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(text)
        .join(', '),
  });
}

export function setBindingDefaults<T extends Binding>(binding: T): T {
  const referring = changePart(binding, 'roleRef', (ref: RoleRef) => fill<RoleRef>(ref, { apiGroup: rbacGroup }) as NonNullable<T['roleRef']>);
  return changePart(referring, 'subjects', (subjects) => changeItems(subjects as readonly Subject[], withGroup) as NonNullable<T['subjects']>);
}

function withGroup(subject: Subject): Subject {
  return subject.kind === 'User' || subject.kind === 'Group' ? fill<Subject>(subject, { apiGroup: rbacGroup }) : subject;
}

/** @param roleKinds what may be granted there @param scope of the binding: a service account's namespace may follow from it */
export function validateBinding(binding: Binding, roleKinds: readonly string[], scope: 'Namespaced' | 'Cluster'): readonly FieldProblem[] {
  return [
    ...validateRoleRef(binding.roleRef ?? {}, roleKinds),
    ...(binding.subjects ?? []).flatMap((subject, index) => validateSubject(subject, scope, `subjects[${index}]`)),
  ];
}

/** What is granted stays: who may change a binding may not thereby grant another role. */
export function validateBindingUpdate(next: Binding, previous: Binding): readonly FieldProblem[] {
  const isSame = (['apiGroup', 'kind', 'name'] as const).every((key) => (next.roleRef?.[key] ?? '') === (previous.roleRef[key] ?? ''));
  if (isSame) return [];
  const { apiGroup = '', kind = '', name = '' } = next.roleRef ?? {};
  return [invalid('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')]; // upstream prints its internal type
}

function validateRoleRef({ apiGroup = '', kind = '', name = '' }: Partial<RoleRef>, roleKinds: readonly string[]): readonly FieldProblem[] {
  return [
    ...(apiGroup === rbacGroup ? [] : [notSupported('roleRef.apiGroup', apiGroup, [rbacGroup])]),
    ...(roleKinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, roleKinds)]),
    ...(name === '' ? [required('roleRef.name')] : pathSegmentProblems(name).map((problem) => invalid('roleRef.name', name, problem))),
  ];
}

function validateSubject(subject: Subject, scope: 'Namespaced' | 'Cluster', field: string): readonly FieldProblem[] {
  const { kind = '', name = '', namespace = '', apiGroup = '' } = subject;
  const problems = name === '' ? [required(`${field}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') problems.push(...subdomainProblems(name).map((problem) => invalid(`${field}.name`, name, problem)));
      if (apiGroup !== '') problems.push(notSupported(`${field}.apiGroup`, apiGroup, ['']));
      if (scope === 'Cluster' && namespace === '') problems.push(required(`${field}.namespace`));
      return problems;
    case 'User':
    case 'Group':
      if (name === '') problems.push(invalid(`${field}.name`, name, `${kind.toLowerCase()} name cannot be empty`));
      if (apiGroup !== rbacGroup) problems.push(notSupported(`${field}.apiGroup`, apiGroup, [rbacGroup]));
      return problems;
    default:
      return [...problems, notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
}
