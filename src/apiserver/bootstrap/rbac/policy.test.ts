import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { clusterRole } from '#api/kinds/rbac/v1/cluster-role.ts';
import { clusterRoleBinding } from '#api/kinds/rbac/v1/cluster-role-binding.ts';
import { role } from '#api/kinds/rbac/v1/role.ts';
import { roleBinding } from '#api/kinds/rbac/v1/role-binding.ts';
import type { KubeObject, NewObject } from '#api/object.ts';
import type { PolicyRule } from '#api/types/rbac-v1.ts';
import type { ResourceAccess } from '../../authorization/authorizer.ts';
import { GrantIndex } from '../../authorization/rbac/grant-index.ts';
import { createRbacAuthorizer } from '../../authorization/rbac/rbac-authorizer.ts';
import { authenticated } from '../../request/user.ts';
import { bootstrapPolicy } from './policy.ts';

const policy = bootstrapPolicy();
const nameOf = ({ metadata }: NewObject<KubeObject>) => `${metadata.namespace ?? ''}/${metadata.name}`;

/** As the server stores it. */
function stored<T extends KubeObject>(object: NewObject<T>): T {
  const metadata = { ...object.metadata, uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
  return { ...object, metadata } as unknown as T; // the rest is there
}

test('all of it is valid, each once, and what is bound exists', () => {
  const check = <T extends KubeObject>(kind: Kind<T>, objects: readonly NewObject<T>[]) => {
    assert.equal(new Set(objects.map(nameOf)).size, objects.length);
    for (const object of objects.map(stored)) assert.deepEqual(kind.validate(object).map(problemText), [], object.metadata.name);
  };
  check(clusterRole, policy.clusterRoles);
  check(clusterRoleBinding, policy.clusterRoleBindings);
  check(role, policy.roles);
  check(roleBinding, policy.roleBindings);
  const clusterRoles = new Set(policy.clusterRoles.map(({ metadata }) => metadata.name));
  for (const { roleRef } of policy.clusterRoleBindings) assert.ok(clusterRoles.has(roleRef.name), roleRef.name);
  const roles = new Set(policy.roles.map(nameOf));
  for (const { roleRef, metadata } of policy.roleBindings) assert.ok(roles.has(`${metadata.namespace}/${roleRef.name}`), roleRef.name);
});

test('upstream’s roles are there by name and number', () => {
  const names = policy.clusterRoles.map(({ metadata }) => metadata.name ?? '');
  const ofControllers = names.filter((name) => name.startsWith('system:controller:'));
  assert.equal(ofControllers.length, 38);
  assert.deepEqual(
    names.filter((name) => !name.startsWith('system:')),
    ['cluster-admin', 'admin', 'edit', 'view', 'kubernode:aggregate-podstartups-to-view'],
  );
  assert.equal(names.filter((name) => name.startsWith('system:')).length - ofControllers.length, 27);
  assert.equal(policy.clusterRoleBindings.filter(({ metadata }) => metadata.name?.startsWith('system:controller:') === true).length, 38);
  assert.deepEqual([policy.roles.length, policy.roleBindings.length], [7, 7]);
});

test('lists in rules are sorted, as upstream’s are', () => {
  for (const { rules = [] } of [...policy.clusterRoles, ...policy.roles]) {
    for (const rule of rules) for (const values of Object.values(rule)) assert.deepEqual(values, [...values].sort());
  }
});

const rulesByRole = new Map<string, readonly PolicyRule[]>(policy.clusterRoles.map(({ metadata, rules = [] }) => [metadata.name ?? '', rules]));
const grants = new GrantIndex();
for (const binding of policy.clusterRoleBindings) grants.add(stored(binding));
const authorizer = createRbacAuthorizer(grants, ({ name }) => rulesByRole.get(name));
const may = (name: string, verb: string, resource: string, group = '') => {
  const [plural = '', subresource = ''] = resource.split('/');
  const access: ResourceAccess = { kind: 'resource', verb, group, resource: plural, subresource, namespace: 'kube-system', name: '' };
  return authorizer.decide(authenticated({ name }), access).verdict === 'allow';
};
const account = (name: string) => `system:serviceaccount:kube-system:${name}`;

test('our parts may do what they do', () => {
  const done: readonly (readonly [user: string, verb: string, resource: string, group?: string])[] = [
    ['system:kube-scheduler', 'create', 'pods/binding'],
    ['system:kube-scheduler', 'patch', 'pods/status'],
    ['system:kube-scheduler', 'create', 'events', 'events.k8s.io'],
    ['system:kube-controller-manager', 'watch', 'anything', 'example.com'],
    [account('clusterrole-aggregation-controller'), 'patch', 'clusterroles', 'rbac.authorization.k8s.io'],
    [account('generic-garbage-collector'), 'delete', 'anything', 'example.com'],
    [account('namespace-controller'), 'deletecollection', 'anything', 'example.com'],
    [account('namespace-controller'), 'update', 'namespaces/finalize'],
    [account('node-controller'), 'patch', 'nodes/status'],
    [account('node-controller'), 'delete', 'pods'],
    [account('pod-garbage-collector'), 'patch', 'pods/status'],
    [account('root-ca-cert-publisher'), 'update', 'configmaps'],
    [account('service-account-controller'), 'create', 'serviceaccounts'],
    ['kube-apiserver-kubelet-client', 'create', 'nodes/proxy'],
  ];
  for (const request of done) assert.ok(may(...request), request.join(' '));
});

test('and not what others of them do', () => {
  assert.equal(may('system:kube-scheduler', 'update', 'nodes'), false);
  assert.equal(may('system:kube-controller-manager', 'delete', 'pods'), false);
  assert.equal(may(account('node-controller'), 'get', 'secrets'), false);
  assert.equal(may('kube-apiserver-kubelet-client', 'list', 'secrets'), false);
});
