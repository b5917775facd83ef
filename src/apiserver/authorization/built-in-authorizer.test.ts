import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymous, authenticated } from '../request/user.ts';
import type { Access } from './authorizer.ts';
import { createAuthorizerChain } from './authorizer-chain.ts';
import { createBuiltInAuthorizer } from './built-in-authorizer.ts';

const authorizer = createAuthorizerChain([createBuiltInAuthorizer()]);
const resource = (verb: string, name: string, more: Partial<Extract<Access, { kind: 'resource' }>> = {}): Access => {
  const [plural = '', subresource = ''] = name.split('/');
  return { kind: 'resource', verb, group: '', resource: plural, subresource, namespace: '', name: '', ...more };
};
const path = (wanted: string): Access => ({ kind: 'path', verb: 'get', path: wanted });
const node = authenticated({ name: 'system:node:n1', groups: ['system:nodes'] });
const allows = (...request: Parameters<typeof authorizer.decide>) => authorizer.decide(...request).verdict === 'allow';

test('masters may do everything', () => {
  const master = authenticated({ name: 'admin', groups: ['system:masters'] });
  assert.equal(allows(master, resource('*', '*', { group: '*' })), true);
  assert.equal(allows(master, path('/anything')), true);
});

test('somebody without a role reaches discovery and reviews of themselves only', () => {
  const user = authenticated({ name: 'jane' });
  assert.equal(allows(user, path('/apis/apps/v1')), true);
  assert.equal(allows(user, resource('create', 'selfsubjectreviews', { group: 'authentication.k8s.io' })), true);
  assert.equal(allows(user, resource('list', 'pods', { namespace: 'a' })), false);
  assert.equal(allows(user, path('/metrics')), false);
});

test('nobody in particular reaches health and version only', () => {
  assert.equal(allows(anonymous, path('/readyz')), true);
  assert.equal(allows(anonymous, path('/version')), true);
  assert.equal(allows(anonymous, path('/api')), false);
  assert.equal(allows(anonymous, resource('list', 'pods')), false);
});

test('a node writes what is its own and reads what it runs', () => {
  assert.equal(allows(node, resource('list', 'pods')), true);
  assert.equal(allows(node, resource('patch', 'nodes/status', { name: 'n1' })), true);
  assert.equal(allows(node, resource('patch', 'nodes/status', { name: 'n2' })), false);
  assert.equal(allows(node, resource('update', 'pods', { name: 'p', namespace: 'a' })), false);
  const lease = { group: 'coordination.k8s.io', name: 'n1' };
  assert.equal(allows(node, resource('update', 'leases', { ...lease, namespace: 'kube-node-lease' })), true);
  assert.equal(allows(node, resource('update', 'leases', { ...lease, namespace: 'default' })), false);
});

test('a rule for a resource does not cover its subresources', () => {
  const scheduler = authenticated({ name: 'system:kube-scheduler' });
  assert.equal(allows(scheduler, resource('delete', 'pods')), true);
  assert.equal(allows(scheduler, resource('get', 'pods/log')), false);
});
