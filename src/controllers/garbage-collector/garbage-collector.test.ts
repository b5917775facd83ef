import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { createEventRecorder } from '#client/event-recorder.ts';
import { createIndex } from '#client/indexer.ts';
import { createSharedInformers } from '#client/shared-informers.ts';
import { defaultControllerTimings } from '../context.ts';
import { runGarbageCollector } from './controller.ts';

setMaxListeners(0); // as in the control plane

const maps = '/api/v1/namespaces/default/configmaps';
const deadlineMs = 10_000;

interface Made {
  readonly name: string;
  readonly uid: string;
}

/** A server and the collector beside it. */
async function collecting(t: { after(action: () => Promise<void>): void }) {
  const api = await inProcessServer();
  const client = createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
  const dependencies = { clock: systemClock, logger: silentLogger };
  const informers = createSharedInformers(client, dependencies);
  const podsByNode = createIndex(informers.of(podKind), (pod) => pod.spec?.nodeName ?? '');
  const events = createEventRecorder(client, { component: 'garbage-collector-controller', ...dependencies });
  const timings = { ...defaultControllerTimings, garbageCollectorDelayMs: 0 };
  const stop = new AbortController();
  const parts = [
    informers.run(stop.signal),
    events.run(stop.signal),
    runGarbageCollector({ client, informers, podsByNode, events, timings, ...dependencies }, stop.signal).catch(() => undefined), // stopped
  ];
  t.after(async () => {
    stop.abort();
    podsByNode.close();
    await Promise.all(parts);
    await api[Symbol.asyncDispose]();
  });
  const create = async (name: string, owners: readonly object[] = [], metadata: object = {}): Promise<Made> => {
    const { status, body } = await api.call('POST', maps, { body: { metadata: { name, ownerReferences: owners, ...metadata } } });
    assert.equal(status, 201, body.message);
    return { name, uid: body.metadata.uid };
  };
  const remove = async (name: string, propagationPolicy: string) => {
    const { status, body } = await api.call('DELETE', `${maps}/${name}`, { body: { propagationPolicy } });
    assert.equal(status, 200, body.message);
  };
  const names = async (): Promise<readonly string[]> =>
    (await api.call('GET', maps)).body.items.map(({ metadata }: { readonly metadata: Made }) => metadata.name);
  /** Waits for the end of these, and says in which order they went. */
  const ends = async (wanted: readonly string[], from: string): Promise<readonly string[]> => {
    const gone: string[] = [];
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deadlineMs);
    for await (const { type, object } of api.watch(`${maps}?watch=1&resourceVersion=${from}`, late.signal)) {
      if (type === 'DELETED' && wanted.includes(object.metadata.name)) gone.push(object.metadata.name);
      if (gone.length === wanted.length) break;
    }
    clearTimeout(timer);
    return gone;
  };
  const now = async (): Promise<string> => (await api.call('GET', maps)).body.metadata.resourceVersion;
  /** Everything that the collector had to do before this call is done. */
  const idle = async () => {
    const from = await now();
    const owner = await create('sentinel-owner');
    await create('sentinel', [ownedBy(owner)]);
    await remove('sentinel-owner', 'Background');
    assert.deepEqual(await ends(['sentinel'], from), ['sentinel']);
  };
  return { api, create, remove, names, ends, now, idle };
}

const ownedBy = ({ name, uid }: Made, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more });
const blocking = { blockOwnerDeletion: true };

test('background: what belonged to an object goes after it, all the way down', async (t) => {
  const { create, remove, ends, now } = await collecting(t);
  const owner = await create('deployment');
  const set = await create('set', [ownedBy(owner)]);
  await create('pod', [ownedBy(set)]);
  const from = await now();
  await remove('deployment', 'Background');
  assert.deepEqual(await ends(['deployment', 'set', 'pod'], from), ['deployment', 'set', 'pod']);
});

test('an object with another living owner stays and forgets the one that is gone', async (t) => {
  const { api, create, remove, names, idle } = await collecting(t);
  const [one, two] = [await create('one'), await create('two')];
  await create('shared', [ownedBy(one), ownedBy(two)]);
  await remove('one', 'Background');
  await idle();
  assert.deepEqual(await names(), ['shared', 'two']);
  assert.deepEqual((await api.call('GET', `${maps}/shared`)).body.metadata.ownerReferences, [ownedBy(two)]);
});

test('foreground: an owner goes after the dependents that hold it up, and not before', async (t) => {
  const { api, create, remove, ends, now } = await collecting(t);
  const owner = await create('deployment');
  const set = await create('set', [ownedBy(owner, blocking)]);
  await create('pod', [ownedBy(set, blocking)], { finalizers: ['example.com/hold'] });
  await create('other', [ownedBy(owner)]);
  const from = await now();
  await remove('deployment', 'Foreground');
  assert.deepEqual(await ends(['other'], from), ['other']);
  assert.deepEqual((await api.call('GET', `${maps}/deployment`)).body.metadata.finalizers, ['foregroundDeletion']);
  const release = { metadata: { finalizers: null } };
  await api.call('PATCH', `${maps}/pod`, { body: release, headers: { 'content-type': 'application/merge-patch+json' } });
  assert.deepEqual(await ends(['pod', 'set', 'deployment'], from), ['pod', 'set', 'deployment']);
});

test('orphan: dependents stay and belong to nobody', async (t) => {
  const { api, create, remove, ends, now, idle } = await collecting(t);
  const owner = await create('set');
  await create('pod', [ownedBy(owner)]);
  const from = await now();
  await remove('set', 'Orphan');
  assert.deepEqual(await ends(['set'], from), ['set']);
  await idle();
  const { status, body } = await api.call('GET', `${maps}/pod`);
  assert.deepEqual([status, body.metadata.ownerReferences], [200, undefined]);
});

test('a circle of objects that hold each other up is deleted', async (t) => {
  const { api, create, remove, ends, now } = await collecting(t);
  const made: Made[] = [];
  for (const name of ['a', 'b', 'c']) made.push(await create(name));
  const from = await now();
  for (const [index, { name }] of made.entries()) {
    const owner = made[(index + 1) % 3];
    assert.ok(owner !== undefined);
    const body = { metadata: { ownerReferences: [ownedBy(owner, blocking)] } };
    await api.call('PATCH', `${maps}/${name}`, { body, headers: { 'content-type': 'application/merge-patch+json' } });
  }
  await remove('a', 'Foreground');
  assert.deepEqual([...(await ends(['a', 'b', 'c'], from))].sort(), ['a', 'b', 'c']);
});

test('an owner that does not exist, or is another object by now, is no owner', async (t) => {
  const { create, ends, now, names } = await collecting(t);
  const from = await now();
  const owner = await create('owner');
  await create('kept', [ownedBy(owner)]);
  await create('of-nobody', [ownedBy({ name: 'nobody', uid: 'no-such-uid' })]);
  await create('of-another', [ownedBy({ name: 'owner', uid: 'its-old-uid' })]);
  await ends(['of-nobody', 'of-another'], from);
  assert.deepEqual(await names(), ['kept', 'owner']);
});

test('an owner of a kind that nobody knows is left alone, and so is its dependent', async (t) => {
  const { api, create, idle } = await collecting(t);
  await create('pod', [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'x', uid: 'u' }]);
  await idle();
  assert.equal((await api.call('GET', `${maps}/pod`)).status, 200);
});

test('an owner in another namespace: the dependent goes and an event says why; in cluster scope it stays', async (t) => {
  const { api, create, ends, now, idle } = await collecting(t);
  await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'far' } } });
  const { body: owner } = await api.call('POST', '/api/v1/namespaces/far/configmaps', { body: { metadata: { name: 'owner' } } });
  await idle(); // the owner was seen
  const from = await now();
  await create('pod', [ownedBy(owner.metadata)]);
  await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'node', ownerReferences: [ownedBy(owner.metadata)] } } });
  assert.deepEqual(await ends(['pod'], from), ['pod']);
  await idle();
  assert.equal((await api.call('GET', '/api/v1/nodes/node')).status, 200);
  const { body } = await api.call('GET', '/api/v1/namespaces/default/events?fieldSelector=reason%3DOwnerRefInvalidNamespace');
  const told = body.items.map((event: { readonly type: string; readonly message: string; readonly involvedObject: { readonly name: string } }) =>
    [event.involvedObject.name, event.type, event.message].join(' | '),
  );
  const about = (namespace: string) =>
    `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${namespace}"`;
  assert.deepEqual(told.sort(), [`node | Warning | ${about('')}`, `pod | Warning | ${about('default')}`]);
});

/** Which objects are left when those were deleted in the background: the others with no owner from the start, or with one that is left. */
function survivors(owners: readonly (readonly number[])[], deleted: readonly number[]): readonly number[] {
  const left = new Set(owners.keys());
  for (const at of deleted) left.delete(at);
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const at of [...left]) {
      const mine = owners[at] ?? [];
      if (mine.length === 0 || mine.some((owner) => left.has(owner))) continue;
      left.delete(at);
      isStable = false;
    }
  }
  return [...left];
}

test('of any forest of objects exactly those are collected that belong to nobody any more', async (t) => {
  const { create, remove, names, idle, ends, now } = await collecting(t);
  let round = 0;
  // Owners come before what belongs to them, so that there are no circles.
  const forest = fc.array(fc.uniqueArray(fc.nat(8), { maxLength: 2 }), { minLength: 2, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(forest, fc.uniqueArray(fc.nat(8), { minLength: 1, maxLength: 3 }), async (drawn, asked) => {
      round += 1;
      const owners = drawn.map((mine, at) => mine.filter((owner) => owner < at));
      const deleted = asked.filter((at) => at < owners.length);
      const made: Made[] = [];
      const from = await now();
      for (const [at, mine] of owners.entries()) {
        const references = mine.flatMap((owner) => (made[owner] === undefined ? [] : [ownedBy(made[owner])]));
        made.push(await create(`r${round}-${at}`, references));
      }
      for (const at of deleted) await remove(`r${round}-${at}`, 'Background').catch(() => undefined); // the collector may be faster
      const left = survivors(owners, deleted).map((at) => `r${round}-${at}`);
      const gone = made.map(({ name }) => name).filter((name) => !left.includes(name));
      await ends(gone, from);
      await idle();
      assert.deepEqual(
        (await names()).filter((name) => name.startsWith(`r${round}-`)),
        left.sort(),
      );
    }),
    { numRuns: 15 },
  );
});
