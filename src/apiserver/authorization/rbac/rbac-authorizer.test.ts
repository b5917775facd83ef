import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Binding } from '#api/rules/rbac-bindings.ts';
import type { PolicyRule, RoleRef, Subject } from '#api/types/rbac-v1.ts';
import { authenticated } from '../../request/user.ts';
import type { Access, ResourceAccess } from '../authorizer.ts';
import { GrantIndex } from './grant-index.ts';
import { createRbacAuthorizer } from './rbac-authorizer.ts';

const jane = authenticated({ name: 'jane', groups: ['staff'] });
const robot = authenticated({ name: 'system:serviceaccount:shop:robot', groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'] });
const toJane: Subject = { kind: 'User', name: 'jane' };

function access(verb: string, resource: string, more: Partial<ResourceAccess> = {}): ResourceAccess {
  const [plural = '', subresource = ''] = resource.split('/');
  return { kind: 'resource', verb, group: '', resource: plural, subresource, namespace: 'shop', name: '', ...more };
}

function aBinding(name: string, namespace: string, role: string, ...subjects: readonly Subject[]): Binding {
  const [kind = '', roleName = ''] = role.split('/');
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace === '' ? {} : { namespace }), uid: name, resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects,
  };
}

/** Roles by `ClusterRole/name` or `Role/namespace/name`. */
function rbac(roles: Readonly<Record<string, readonly PolicyRule[]>>, ...bindings: readonly Binding[]) {
  const grants = new GrantIndex();
  for (const binding of bindings) grants.add(binding);
  const rulesOfRole = ({ kind, name }: RoleRef, namespace: string) => roles[kind === 'Role' ? `Role/${namespace}/${name}` : `${kind}/${name}`];
  return { grants, ...createRbacAuthorizer(grants, rulesOfRole) };
}

const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

describe('what a rule allows', () => {
  const one = (rule: PolicyRule, wanted: Access) =>
    rbac({ 'ClusterRole/r': [rule] }, aBinding('b', '', 'ClusterRole/r', toJane)).decide(jane, wanted).verdict === 'allow';
  const path = (wanted: string, verb = 'get'): Access => ({ kind: 'path', verb, path: wanted });

  test('52: who may read pods may not read their logs or execute in them', () => {
    assert.equal(one(pods, access('get', 'pods')), true);
    assert.equal(one(pods, access('get', 'pods/log')), false);
    assert.equal(one({ ...pods, verbs: ['*'] }, access('create', 'pods/exec')), false);
  });

  test('53: a rule with names allows a list only when it asks for one of them', () => {
    const rule: PolicyRule = { ...pods, resourceNames: ['a'] };
    assert.equal(one(rule, access('list', 'pods')), false);
    assert.equal(one(rule, access('list', 'pods', { name: 'a' })), true);
    assert.equal(one(rule, access('get', 'pods', { name: 'b' })), false);
  });

  test('a wildcard stands for all, and for one subresource of all', () => {
    assert.equal(one({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, access('create', 'pods/exec', { group: 'x' })), true);
    const scale: PolicyRule = { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] };
    assert.equal(one(scale, access('get', 'deployments/scale', { group: 'apps' })), true);
    assert.equal(one(scale, access('get', 'deployments', { group: 'apps' })), false);
    assert.equal(one(scale, access('get', 'scale')), false);
  });

  test('a path is meant exactly, or by how it begins', () => {
    const rule: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/version', '/logs/*'] };
    assert.deepEqual(
      ['/version', '/version/', '/logs', '/logs/', '/logs/a/b'].map((wanted) => one(rule, path(wanted))),
      [true, false, false, true, true],
    );
    assert.equal(one(rule, path('/version', 'post')), false);
    assert.equal(one({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, path('/version')), false);
  });
});

describe('whom a binding reaches', () => {
  const roles = { 'ClusterRole/reader': [pods], 'Role/shop/reader': [pods] };

  test('users, members of groups and service accounts, in the binding’s namespace', () => {
    const inShop = (subject: Subject) => rbac(roles, aBinding('b', 'shop', 'Role/reader', subject));
    for (const subject of [toJane, { kind: 'Group', name: 'staff' }]) {
      assert.equal(inShop(subject).decide(jane, access('get', 'pods')).verdict, 'allow');
      assert.equal(inShop(subject).decide(robot, access('get', 'pods')).verdict, 'no opinion');
      assert.equal(inShop(subject).decide(jane, access('get', 'pods', { namespace: 'other' })).verdict, 'no opinion');
      assert.equal(inShop(subject).decide(jane, access('list', 'pods', { namespace: '' })).verdict, 'no opinion');
    }
    assert.equal(inShop({ kind: 'ServiceAccount', name: 'robot' }).decide(robot, access('get', 'pods')).verdict, 'allow');
    assert.equal(inShop({ kind: 'ServiceAccount', name: 'robot', namespace: 'other' }).decide(robot, access('get', 'pods')).verdict, 'no opinion');
  });

  test('one of the cluster reaches every namespace', () => {
    const everywhere = rbac(roles, aBinding('b', '', 'ClusterRole/reader', { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' }));
    for (const namespace of ['', 'shop', 'other'])
      assert.equal(everywhere.decide(robot, access('list', 'pods', { namespace })).verdict, 'allow', namespace);
  });

  test('a role of another namespace is not the one that is meant', () => {
    assert.equal(
      rbac(roles, aBinding('b', 'other', 'Role/reader', toJane)).decide(jane, access('get', 'pods', { namespace: 'other' })).verdict,
      'no opinion',
    );
  });

  test('what is taken back is gone, what others were given stays', () => {
    const both = aBinding('both', 'shop', 'Role/reader', toJane, { kind: 'Group', name: 'staff' });
    const { grants, decide } = rbac(roles, both, aBinding('robots', 'shop', 'Role/reader', { kind: 'ServiceAccount', name: 'robot' }));
    grants.remove(both);
    assert.equal(decide(jane, access('get', 'pods')).verdict, 'no opinion');
    assert.equal(decide(robot, access('get', 'pods')).verdict, 'allow');
  });
});

describe('what is told', () => {
  test('who allows: binding, role and subject', () => {
    const roles = { 'ClusterRole/view': [pods], 'Role/shop/view': [pods] };
    const reason = (binding: Binding, user = jane) => rbac(roles, binding).decide(user, access('get', 'pods')).reason;
    assert.equal(
      reason(aBinding('b', '', 'ClusterRole/view', toJane)),
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "view" to User "jane"',
    );
    assert.equal(
      reason(aBinding('b', 'shop', 'Role/view', { kind: 'ServiceAccount', name: 'robot' }), robot),
      'RBAC: allowed by RoleBinding "b/shop" of Role "view" to ServiceAccount "robot/shop"',
    );
  });

  test('roles that are bound and do not exist', () => {
    const lost = [aBinding('a', '', 'ClusterRole/x', toJane), aBinding('b', '', 'ClusterRole/x', toJane)];
    assert.deepEqual(rbac({}, ...lost).decide(jane, access('get', 'pods')), {
      verdict: 'no opinion',
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "x" not found',
      problem: '',
    });
    assert.equal(
      rbac({}, ...lost, aBinding('c', 'shop', 'Role/y', toJane)).decide(jane, access('get', 'pods')).reason,
      'RBAC: [clusterrole.rbac.authorization.k8s.io "x" not found, role.rbac.authorization.k8s.io "y" not found]',
    );
  });

  test('all rules of a user in a namespace, those of a binding once', () => {
    const logs: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] };
    const { rulesOf } = rbac(
      { 'ClusterRole/reader': [pods], 'Role/shop/logs': [logs] },
      aBinding('a', '', 'ClusterRole/reader', toJane, { kind: 'Group', name: 'staff' }),
      aBinding('b', 'shop', 'Role/logs', { kind: 'Group', name: 'staff' }),
      aBinding('c', 'shop', 'Role/lost', toJane),
    );
    const problems = ['role.rbac.authorization.k8s.io "lost" not found'];
    assert.deepEqual(rulesOf(jane, 'shop'), { rules: [pods, logs], isComplete: true, problems });
    assert.deepEqual(rulesOf(jane, 'other'), { rules: [pods], isComplete: true, problems: [] });
  });
});
