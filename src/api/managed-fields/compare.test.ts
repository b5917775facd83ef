import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepEqual } from '../deep-equal.ts';
import { schemaOf } from '../schema/message-schema.ts';
import { compare } from './compare.ts';
import { namedFields } from './extract.ts';
import { difference, isBare, leaf } from './field-set.ts';
import { merge } from './merge.ts';
import { typeOfMessage } from './message-type.ts';
import { prune } from './prune.ts';
import { hasAll, smallObject, smallType } from './testing/small-type.ts';

const podType = typeOfMessage(schemaOf('core.v1.Pod'));
const nodeType = typeOfMessage(schemaOf('core.v1.Node'));
const pod = (spec: object) => ({ spec: { containers: [{ name: 'a' }], ...spec } });

test('an object does not differ from a copy of itself; what one way adds, the other way removes', () => {
  fc.assert(
    fc.property(smallObject, smallObject, (a, b) => {
      assert.equal(compare(smallType, a, structuredClone(a)), undefined);
      const there = compare(smallType, a, b);
      const back = compare(smallType, b, a);
      assert.deepEqual(there?.added, back?.removed);
      assert.deepEqual(there?.removed, back?.added);
      assert.deepEqual(there?.modified, back?.modified);
    }),
  );
});

test('what is merged in is in the result, what it does not name stays; merging again changes nothing', () => {
  fc.assert(
    fc.property(smallObject, smallObject, (live, applied) => {
      const merged = merge(smallType, live, applied);
      assert.deepEqual(merge(smallType, merged, applied), merged);
      assert.deepEqual(merge(smallType, live, {}), live);
      const changes = compare(smallType, live, merged);
      const named = namedFields(smallType, applied);
      assert.ok(hasAll(named, changes?.modified ?? leaf, difference));
    }),
  );
});

test('what is pruned is gone and everything else stays', () => {
  fc.assert(
    fc.property(smallObject, smallObject, (live, applied) => {
      const merged = merge(smallType, live, applied);
      const all = namedFields(smallType, merged);
      assert.equal(prune(smallType, merged, leaf, leaf), merged);
      assert.deepEqual(prune(smallType, merged, all, all), merged);
      assert.ok(
        Object.keys(applied).every(
          (name) => !(name in prune(smallType, merged, namedFields(smallType, applied), leaf)) || deepEqual(applied[name], []),
        ),
      );
    }),
  );
});

test('given list items with keys, then each is found whatever its place, and a missing protocol is TCP', () => {
  const before = pod({ containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80, protocol: 'TCP' }] }, { name: 'b' }] });
  const after = pod({ containers: [{ name: 'b' }, { name: 'a', image: 'y', ports: [{ containerPort: 80 }, { containerPort: 81 }] }] });
  assert.deepEqual(compare(podType, before, after), {
    added: {
      'f:spec': {
        'f:containers': { 'k:{"name":"a"}': { 'f:ports': { 'k:{"containerPort":81,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } } } },
      },
    },
    modified: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:image': {} } } } },
    removed: {
      'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { 'f:protocol': {} } } } } },
    },
  });
});

test('given atomic structs, lists and maps, then a change in them is one of the whole', () => {
  const before = pod({ nodeSelector: { a: 'b' }, tolerations: [{ key: 'x' }], affinity: {} });
  const after = pod({ nodeSelector: { a: 'c' }, tolerations: [{ key: 'y' }], affinity: { nodeAffinity: {} } });
  assert.deepEqual(compare(podType, before, after), {
    added: { 'f:spec': { 'f:affinity': { 'f:nodeAffinity': {} } } },
    modified: { 'f:spec': { 'f:nodeSelector': {}, 'f:tolerations': {} } },
    removed: {},
  });
});

test('given a new object, then structs that Go always writes are not owned for being there', () => {
  const { added } = compare(podType, {}, pod({ securityContext: {}, hostAliases: [{ ip: '1.1.1.1', hostnames: ['h'] }] })) ?? { added: leaf };
  assert.deepEqual(added, {
    'f:spec': {
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } },
      'f:hostAliases': { '.': {}, 'k:{"ip":"1.1.1.1"}': { '.': {}, 'f:hostnames': {}, 'f:ip': {} } },
      'f:securityContext': {},
    },
  });
});

test('43: given two node addresses of one type, then they are one field and nothing fails', () => {
  const node = (...addresses: readonly object[]) => ({ status: { addresses } });
  const twice = node({ type: 'InternalIP', address: '1' }, { type: 'InternalIP', address: '2' });
  const internal = { 'f:status': { 'f:addresses': { 'k:{"type":"InternalIP"}': {} } } };
  assert.deepEqual(compare(nodeType, { status: {} }, twice)?.added, { 'f:status': { 'f:addresses': { '.': {}, 'k:{"type":"InternalIP"}': {} } } });
  assert.deepEqual(compare(nodeType, twice, node({ type: 'InternalIP', address: '2' }, { type: 'InternalIP', address: '1' }))?.modified, internal);
  assert.deepEqual(namedFields(nodeType, twice), internal);
  assert.deepEqual(
    merge(nodeType, twice, node({ type: 'Hostname', address: 'h' })),
    node(...[...twice.status.addresses, { type: 'Hostname', address: 'h' }]),
  );
});

test('a field that is skipped counts as equal, with all that lies below', () => {
  const changes = compare(
    podType,
    { metadata: { name: 'a' } },
    { metadata: { name: 'b', labels: { a: 'b' } }, status: { phase: 'x' } },
    {
      'f:metadata': { 'f:name': leaf },
      'f:status': leaf,
    },
  );
  assert.deepEqual(changes?.added, { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } });
  assert.ok(isBare(changes?.modified ?? leaf));
});

test('named fields: entries and items are owned besides what they hold, structs only when empty or null', () => {
  const applied = {
    metadata: { labels: { a: 'b' }, annotations: {}, finalizers: ['x'] },
    spec: { containers: [{ name: 'a', image: 'i', resources: {} }], nodeName: null, affinity: { nodeAffinity: {} } },
  };
  assert.deepEqual(namedFields(podType, applied), {
    'f:metadata': { 'f:annotations': {}, 'f:finalizers': { 'v:"x"': {} }, 'f:labels': { 'f:a': {} } },
    'f:spec': {
      'f:affinity': { 'f:nodeAffinity': {} },
      'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
      'f:nodeName': {},
    },
  });
});

test('merged lists follow what is applied; live items stay before the one that followed them', () => {
  const list = (...names: readonly string[]) => ({ items: names.map((name) => ({ name })) });
  const mergedNames = (live: readonly string[], applied: readonly string[]) => {
    const { items } = merge(smallType, list(...live), list(...applied)) as ReturnType<typeof list>; // lists in, a list out
    return items.map(({ name }) => name).join('');
  };
  assert.equal(mergedNames(['a', 'b', 'c'], ['c', 'a']), 'bca');
  assert.equal(mergedNames(['a', 'x', 'b'], ['b', 'a']), 'xba');
  assert.equal(mergedNames(['x', 'a'], ['n', 'a']), 'xna');
  assert.equal(mergedNames(['a', 'b'], ['n']), 'abn');
  assert.equal(mergedNames(['a', 'z'], ['a', 'n']), 'azn');
});

test('null owns a field: a scalar becomes null, what others have in a map stays', () => {
  assert.deepEqual(merge(smallType, { count: 3, labels: { a: 'b' }, list: ['x'] }, { count: null, labels: null, list: null }), {
    count: null,
    labels: { a: 'b' },
    list: null,
  });
});
