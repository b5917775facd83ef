import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole, PolicyRule } from '#api/types/rbac-v1.ts';
import { planAggregation } from './plan.ts';

const rule = (...resources: readonly string[]): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources });
const aClusterRole = (name: string, labels: Readonly<Record<string, string>>, more: Partial<ClusterRole>): ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels, uid: name, resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' },
  ...more,
});
const view = (more: Partial<ClusterRole> = {}): ClusterRole =>
  aClusterRole(
    'view',
    { to: 'view' },
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'view' } }, { matchLabels: { more: '1' } }] }, ...more },
  );
const parts = [
  aClusterRole('z', { to: 'view' }, { rules: [rule('pods'), rule('secrets')] }),
  aClusterRole('a', { to: 'view' }, { rules: [rule('secrets')] }),
  aClusterRole('first', { more: '1' }, { rules: [rule('events'), rule('pods')] }),
  aClusterRole('other', {}, { rules: [rule('nodes')] }),
];
const united = [rule('secrets'), rule('pods'), rule('events')];

test('an aggregated role has the rules of the roles that its selectors pick, each once, by name', () => {
  assert.deepEqual(planAggregation(view(), [view(), ...parts]), united);
});

test('rules of its own are not kept, and a role that has what it is to have is left alone', () => {
  assert.deepEqual(planAggregation(view({ rules: [...united, rule('nodes')] }), parts), united);
  assert.equal(planAggregation(view({ rules: united }), parts), undefined);
});

test('a role without parts has no rules', () => {
  assert.deepEqual(planAggregation(view({ rules: united }), []), []);
  assert.equal(planAggregation(view(), []), undefined);
});

test('a role that puts nothing together is left alone', () => {
  assert.equal(planAggregation(aClusterRole('plain', {}, { rules: united }), parts), undefined);
});
