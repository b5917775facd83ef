import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, updated } from '#api/testing/kind-objects.ts';
import { template } from '#api/testing/workloads.ts';
import { podTemplate } from './pod-template.ts';

const body = (more: object = {}) => ({ metadata: { name: 'web' }, template: template(more) });

test('a pod template has the defaults and the rules of pods', () => {
  const { template: stored, metadata } = created(podTemplate, body());
  assert.deepEqual([metadata.generation, stored?.spec?.restartPolicy, stored?.spec?.dnsPolicy], [1, 'Always', 'ClusterFirst']);
  assert.deepEqual(refusal(podTemplate, body({ restartPolicy: 'Never' })), []);
  assert.deepEqual(refusal(podTemplate, { metadata: { name: 'web' } }), ['template.spec.containers: Required value']);
});

test('a new template is a new generation, a label of the object is none', () => {
  const first = created(podTemplate, body());
  const generationOf = (next: typeof first) => updated(podTemplate, first, next).object.metadata.generation;
  assert.equal(generationOf(created(podTemplate, body({ hostname: 'web' }))), 2);
  assert.equal(generationOf({ ...first, metadata: { ...first.metadata, labels: { a: 'b' } } }), 1);
});

test('the row of a pod template', () => {
  assert.deepEqual(cells(podTemplate, created(podTemplate, body())), ['web', 'main', 'web:1', 'app=web']);
});
