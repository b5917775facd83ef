import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod } from '#api/testing/objects.ts';
import { InvalidInput } from '#base/errors.ts';
import { schemaOf } from '../schema/message-schema.ts';
import { PatchDoesNotApply } from './patch-does-not-apply.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';

const podSchema = schemaOf('core.v1.Pod');
const patchSpec = (spec: object, patch: object) => applyStrategicMergePatch(podSchema, { spec }, { spec: patch })['spec'];
const c = (name: string, image = 'i') => ({ name, image });

test('items of a list are merged by their key', () => {
  const spec = { containers: [{ ...c('a'), args: ['1', '2'] }, c('b')] };
  assert.deepEqual(patchSpec(spec, { containers: [{ name: 'b', image: 'new' }] }), { containers: [{ ...c('a'), args: ['1', '2'] }, c('b', 'new')] });
});

test('a new item comes before those that the patch does not name, as upstream has it', () => {
  assert.deepEqual(patchSpec({ containers: [c('a')] }, { containers: [c('b')] }), { containers: [c('b'), c('a')] });
});

test('$setElementOrder gives the order; others keep their place beside their neighbours', () => {
  const spec = { containers: [c('a'), c('b'), c('x'), c('d')] };
  const patch = { '$setElementOrder/containers': [{ name: 'd' }, { name: 'a' }, { name: 'n' }], containers: [c('n')] };
  assert.deepEqual(patchSpec(spec, patch), { containers: [c('b'), c('x'), c('d'), c('a'), c('n')] });
});

test('an order that contradicts the list is refused', () => {
  const patch = { '$setElementOrder/containers': [{ name: 'a' }], containers: [c('b')] };
  assert.throws(() => patchSpec({ containers: [c('a')] }, patch), /doesn't match \$setElementOrder list/);
});

test('items are deleted, lists replaced, objects replaced or emptied by directive', () => {
  const spec = { containers: [c('a'), c('b')], securityContext: { runAsUser: 1 }, nodeSelector: { a: 'b' } };
  assert.deepEqual(patchSpec(spec, { containers: [{ $patch: 'delete', name: 'a' }] }), { ...spec, containers: [c('b')] });
  assert.deepEqual(patchSpec(spec, { containers: [{ $patch: 'replace' }, c('z')] }), { ...spec, containers: [c('z')] });
  assert.deepEqual(patchSpec(spec, { securityContext: { $patch: 'replace', runAsGroup: 2 } }), { ...spec, securityContext: { runAsGroup: 2 } });
  assert.deepEqual(patchSpec(spec, { nodeSelector: { $patch: 'delete' } }), { ...spec, nodeSelector: {} });
  assert.throws(() => patchSpec(spec, { nodeSelector: { $patch: 'burn' } }), /unknown patch type: burn/);
});

test('null deletes, also inside objects that are new', () => {
  assert.deepEqual(
    patchSpec(
      { nodeName: 'n', nodeSelector: { a: 'b', c: 'd' } },
      { nodeName: null, nodeSelector: { a: null }, securityContext: { runAsUser: null } },
    ),
    {
      nodeSelector: { c: 'd' },
      securityContext: {},
    },
  );
});

test('lists of scalars are joined, and single ones taken out', () => {
  const object = { metadata: { finalizers: ['a', 'b'] } };
  const patch = (metadata: object) => applyStrategicMergePatch(podSchema, object, { metadata })['metadata'];
  assert.deepEqual(patch({ finalizers: ['c', 'a'] }), { finalizers: ['c', 'a', 'b'] });
  assert.deepEqual(patch({ '$deleteFromPrimitiveList/finalizers': ['a'] }), { finalizers: ['b'] });
  assert.deepEqual(patch({ '$setElementOrder/finalizers': ['b', 'a'] }), { finalizers: ['b', 'a'] });
});

test('a list without a strategy is replaced', () => {
  const spec = { tolerations: [{ key: 'a' }], containers: [c('a')] };
  assert.deepEqual(patchSpec(spec, { tolerations: [{ key: 'b' }] }), { ...spec, tolerations: [{ key: 'b' }] });
});

test('$retainKeys drops what it does not name', () => {
  const spec = { volumes: [{ name: 'v', emptyDir: {} }] };
  const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'm' } }] };
  assert.deepEqual(patchSpec(spec, patch), { volumes: [{ name: 'v', configMap: { name: 'm' } }] });
  assert.throws(() => patchSpec(spec, { volumes: [{ name: 'v', $retainKeys: ['name'], configMap: {} }] }), PatchDoesNotApply);
});

test('directives never reach the object, not even a new one', () => {
  const patch = { containers: [{ ...c('a'), $patch: 'merge', '$setElementOrder/ports': [{ containerPort: 80 }], ports: [{ containerPort: 80 }] }] };
  assert.deepEqual(patchSpec({}, patch), { containers: [{ ...c('a'), ports: [{ containerPort: 80 }] }] });
});

test('an item without its key, and a patch that is no object, are refused', () => {
  assert.throws(() => patchSpec({}, { containers: [{ image: 'i' }] }), /does not contain declared merge key: name/);
  assert.throws(() => patchSpec({}, { containers: ['a'] }), PatchDoesNotApply);
  assert.throws(() => applyStrategicMergePatch(podSchema, {}, [1]), { message: 'invalid JSON document' });
  assert.throws(() => patchSpec({}, { '$setElementOrder/containers': 1 }), { message: 'invalid patch format of setElementOrder list' });
});

test('the status that a kubelet sends keeps conditions of others', () => {
  const pod = aPod({
    status: {
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
    },
  });
  const patch = { status: { '$setElementOrder/conditions': [{ type: 'A' }, { type: 'Ready' }], conditions: [{ type: 'Ready', status: 'True' }] } };
  const patched = applyStrategicMergePatch(podSchema, { ...pod }, patch);
  assert.deepEqual(patched['status'], {
    ...pod.status,
    conditions: [
      { type: 'A', status: 'True' },
      { type: 'Ready', status: 'True' },
    ],
  });
});

test('a patch that was applied once changes nothing the second time, and never changes its arguments', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const items = fc.uniqueArray(fc.record({ name, image: fc.constantFrom('x', 'y') }, { noNullPrototype: true }), {
    selector: (item) => item.name,
    maxLength: 4,
  });
  const spec = fc.record(
    { containers: items, nodeSelector: fc.dictionary(name, fc.constantFrom('1', '2'), { noNullPrototype: true }) },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(spec, spec, (object, patch) => {
      const before = structuredClone({ object, patch });
      const once = applyStrategicMergePatch(podSchema, { spec: object }, { spec: patch });
      assert.deepEqual(applyStrategicMergePatch(podSchema, once, { spec: patch }), once);
      assert.deepEqual({ object, patch }, before);
    }),
  );
});

test('any JSON is applied or refused', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (patch) => {
      try {
        applyStrategicMergePatch(podSchema, { spec: { containers: [c('a')] } }, { spec: { containers: patch } });
      } catch (error) {
        assert.ok(error instanceof InvalidInput, String(error));
      }
    }),
  );
});
