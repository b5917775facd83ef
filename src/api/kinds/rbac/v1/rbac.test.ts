import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from '#api/types/rbac-v1.ts';
import { clusterRole } from './cluster-role.ts';
import { clusterRoleBinding } from './cluster-role-binding.ts';
import { role } from './role.ts';
import { roleBinding } from './role-binding.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const metadata = { name: 'system:a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
const aRole = (...rules: readonly PolicyRule[]): Role => ({ apiVersion, kind: 'Role', metadata: { ...metadata, namespace: 'n' }, rules });
const aClusterRole = (more: Partial<ClusterRole>): ClusterRole => ({ apiVersion, kind: 'ClusterRole', metadata, ...more });
const aBinding = (roleRef: RoleRef, ...subjects: readonly Subject[]): RoleBinding =>
  roleBinding.setDefaults({ apiVersion, kind: 'RoleBinding', metadata: { ...metadata, namespace: 'n' }, roleRef, subjects });
const aClusterBinding = (roleRef: RoleRef, ...subjects: readonly Subject[]): ClusterRoleBinding =>
  clusterRoleBinding.setDefaults({ apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects });
const view: RoleRef = { kind: 'ClusterRole', name: 'view' };

test('a rule names verbs, groups and resources', () => {
  assert.deepEqual(role.validate(aRole({ verbs: [] })).map(problemText), [
    'rules[0].verbs: Required value: verbs must contain at least one value',
    'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
    'rules[0].resources: Required value: resource rules must supply at least one resource',
  ]);
  assert.deepEqual(role.validate(aRole({ verbs: ['get'], apiGroups: [''], resources: ['pods', 'pods/log'], resourceNames: ['a'] })), []);
});

test('paths that are no resources are for cluster roles, and not beside resources', () => {
  const rule: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/healthz'] };
  assert.deepEqual(role.validate(aRole(rule)).map(problemText), [
    'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
  ]);
  assert.deepEqual(clusterRole.validate(aClusterRole({ rules: [rule] })), []);
  assert.deepEqual(clusterRole.validate(aClusterRole({ rules: [{ ...rule, resources: ['pods'] }] })).map(problemText), [
    'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
  ]);
});

test('an aggregation selects by something', () => {
  assert.deepEqual(clusterRole.validate(aClusterRole({ aggregationRule: {} })).map(problemText), [
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ]);
  const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] };
  assert.deepEqual(clusterRole.validate(aClusterRole({ aggregationRule: { clusterRoleSelectors: [selector] } })).map(problemText), [
    'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
  ]);
});

test('groups of references are filled in', () => {
  const binding = aBinding(view, { kind: 'User', name: 'jane' }, { kind: 'ServiceAccount', name: 'robot' });
  assert.deepEqual(binding.roleRef, { ...view, apiGroup });
  assert.deepEqual(binding.subjects, [
    { kind: 'User', name: 'jane', apiGroup },
    { kind: 'ServiceAccount', name: 'robot' },
  ]);
  assert.deepEqual(roleBinding.validate(binding), []);
});

test('a binding grants a role to subjects that there can be', () => {
  const wrong = aClusterBinding(
    { kind: 'Role', name: 'a/b', apiGroup: 'x' },
    { kind: 'User', name: '' },
    { kind: 'ServiceAccount', name: 'Robot', apiGroup: 'x' },
    { kind: 'Dog', name: 'rex' },
  );
  assert.deepEqual(clusterRoleBinding.validate(wrong).map(problemText), [
    'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
    'subjects[0].name: Required value',
    'subjects[0].name: Invalid value: "": user name cannot be empty',
    `subjects[1].name: Invalid value: "Robot": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    'subjects[1].apiGroup: Unsupported value: "x": supported values: ""',
    'subjects[1].namespace: Required value',
    'subjects[2].kind: Unsupported value: "Dog": supported values: "ServiceAccount", "User", "Group"',
  ]);
});

test('what a binding grants stays, whom it grants it to may change', () => {
  const before = aBinding(view, { kind: 'User', name: 'jane' });
  assert.deepEqual(roleBinding.validateUpdate(aBinding(view, { kind: 'Group', name: 'staff' }), before), []);
  assert.deepEqual(roleBinding.validateUpdate(aBinding({ kind: 'Role', name: 'view' }), before).map(problemText), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"view"}: cannot change roleRef',
  ]);
});

test('a binding shows its role, and wide its subjects by kind', () => {
  const subjects: readonly Subject[] = [
    { kind: 'User', name: 'a' },
    { kind: 'ServiceAccount', namespace: 'n', name: 'robot' },
    { kind: 'User', name: 'b' },
  ];
  const binding = aBinding(view, ...subjects);
  const cells = roleBinding.columns.filter(({ name }) => name !== 'Age').map((column) => [column.name, column.priority, column.cell(binding, 0)]);
  assert.deepEqual(cells, [
    ['Name', 0, 'system:a'],
    ['Role', 0, 'ClusterRole/view'],
    ['Users', 1, 'a, b'],
    ['Groups', 1, ''],
    ['ServiceAccounts', 1, 'n/robot'],
  ]);
  assert.deepEqual(
    clusterRole.columns.map(({ name }) => name),
    ['Name', 'Created At'],
  );
});
