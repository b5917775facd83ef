import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '#api/types/rbac-v1.ts';
import { bootstrapPolicy } from './policy.ts';
import { reconciledBinding, reconciledRole } from './reconcile.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const stored = { uid: 'u', resourceVersion: '7', creationTimestamp: '2030-01-01T00:00:00Z' };
const marks = { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' }, annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' } };
const policy = bootstrapPolicy();
const expectedRole = (name: string) => {
  const found = policy.clusterRoles.find(({ metadata }) => metadata.name === name);
  assert.ok(found !== undefined, name);
  return found;
};
const aRole = (name: string, more: Partial<ClusterRole> = {}): ClusterRole => {
  const { metadata, ...rest } = expectedRole(name);
  return { apiVersion, kind: 'ClusterRole', ...rest, metadata: { ...metadata, ...stored, name }, ...more };
};
const extra: PolicyRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] };

test('a role that has everything is left alone, with what somebody added to it', () => {
  const whole = aRole('system:kube-dns');
  assert.equal(reconciledRole(whole, expectedRole('system:kube-dns')), undefined);
  assert.equal(reconciledRole({ ...whole, rules: [extra, ...(whole.rules ?? [])] }, expectedRole('system:kube-dns')), undefined);
});

test('a role gets back the rights that it lacks, and only those', () => {
  const weak = aRole('system:kube-dns', { rules: [extra, { verbs: ['list', 'watch'], apiGroups: [''], resources: ['services'] }] });
  assert.deepEqual(reconciledRole(weak, expectedRole('system:kube-dns'))?.rules, [
    ...(weak.rules ?? []),
    { verbs: ['list'], apiGroups: [''], resources: ['endpoints'] },
    { verbs: ['watch'], apiGroups: [''], resources: ['endpoints'] },
  ]);
});

test('labels and annotations come back, those that say something else stay', () => {
  const role = aRole('system:kube-dns');
  const changed = { ...role, metadata: { ...role.metadata, labels: { mine: 'x' }, annotations: {} } };
  const { labels, annotations } = reconciledRole(changed, expectedRole('system:kube-dns'))?.metadata ?? {};
  assert.deepEqual([labels, annotations], [{ ...marks.labels, mine: 'x' }, marks.annotations]);
});

test('what is marked autoupdate=false is left alone', () => {
  const role = aRole('system:kube-dns', { rules: [] });
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  assert.equal(reconciledRole({ ...role, metadata: { ...role.metadata, annotations } }, expectedRole('system:kube-dns')), undefined);
});

test('an aggregated role keeps the rules that were put together, and gets back its selector', () => {
  const filled = aRole('view', { rules: [extra] });
  assert.equal(reconciledRole(filled, expectedRole('view')), undefined);
  const other = { matchLabels: { mine: 'true' } };
  const strayed = reconciledRole({ ...filled, aggregationRule: { clusterRoleSelectors: [other] } }, expectedRole('view'));
  assert.deepEqual(strayed?.aggregationRule?.clusterRoleSelectors, [
    other,
    { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  ]);
  const turned = reconciledRole(aRole('system:kube-dns', { aggregationRule: { clusterRoleSelectors: [other] } }), expectedRole('system:kube-dns'));
  assert.equal(turned !== undefined && 'aggregationRule' in turned, false);
});

test('a binding gets back its subjects, and is made anew when it grants another role', () => {
  const expected = policy.clusterRoleBindings.find(({ metadata }) => metadata.name === 'system:discovery');
  assert.ok(expected !== undefined);
  const jane: Subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' };
  const binding: ClusterRoleBinding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { ...marks, ...stored, name: 'system:discovery' },
    roleRef: expected.roleRef,
    subjects: [jane],
  };
  const mended = reconciledBinding(binding, expected);
  assert.deepEqual(mended === 'recreate' ? undefined : mended?.subjects, [jane, ...(expected.subjects ?? [])]);
  assert.equal(reconciledBinding({ ...binding, subjects: [jane, ...(expected.subjects ?? [])] }, expected), undefined);
  assert.equal(reconciledBinding({ ...binding, roleRef: { ...expected.roleRef, name: 'view' } }, expected), 'recreate');
});
