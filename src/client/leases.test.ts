import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '#api/types/coordination-v1.ts';
import type { OwnerReference } from '#api/types/meta-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from './api-client.ts';
import { keepLease } from './leases.ts';
import { MemoryApi } from './testing/memory-api.ts';
import { settled } from './testing/settled.ts';

const node: OwnerReference = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' };

function keeping(t: { after(action: () => void): void }, api: MemoryApi, owner: { current: OwnerReference | undefined }) {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const rounds: string[] = [];
  const stop = new AbortController();
  const options = {
    namespace: 'kube-node-lease',
    name: 'node-1',
    holderIdentity: 'node-1',
    durationSeconds: 40,
    renewEveryMs: 10_000,
    owner: async () => owner.current,
    onRound: (outcome: string) => rounds.push(outcome),
    clock,
    logger: silentLogger,
    random: () => 0,
  };
  const ended = keepLease(createClient(api), options, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
  });
  const lease = () => api.objects<Lease>('leases.coordination.k8s.io')[0];
  return { clock, rounds, lease };
}

test('a lease is made once there is an owner for it, and renewed by one write a round', async (t) => {
  const api = new MemoryApi();
  const owner: { current: OwnerReference | undefined } = { current: undefined };
  const { clock, lease } = keeping(t, api, owner);
  await settled();
  assert.equal(lease(), undefined);
  owner.current = node;
  await clock.advance(10_000);
  await settled();
  assert.deepEqual(lease()?.spec, { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2030-01-01T00:00:10.000000Z' });
  assert.deepEqual(lease()?.metadata.ownerReferences, [node]);
  api.requests.length = 0;
  await clock.advance(10_000);
  await settled();
  assert.equal(lease()?.spec?.renewTime, '2030-01-01T00:00:20.000000Z');
  assert.deepEqual(api.requests, ['PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1']);
});

test('a lease that somebody else wrote is read and renewed in the same round; one that was deleted is made again', async (t) => {
  const api = new MemoryApi();
  const { clock, lease } = keeping(t, api, { current: node });
  await settled();
  api.put('leases.coordination.k8s.io', { ...lease(), spec: { holderIdentity: 'thief' } });
  api.requests.length = 0;
  await clock.advance(10_000);
  await settled();
  assert.deepEqual(
    api.requests.map((request) => request.split(' ')[0]),
    ['PUT', 'GET', 'PUT'],
  );
  assert.equal(lease()?.spec?.holderIdentity, 'node-1');
  const uid = lease()?.metadata.uid;
  const lost = lease()?.metadata ?? { name: '' };
  await createClient(api).delete(
    { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', scope: 'Namespaced' },
    lost,
    {},
    new AbortController().signal,
  );
  await clock.advance(10_000);
  await settled();
  assert.notEqual(lease()?.metadata.uid, uid);
});

test('while the server is away the tries go on, from 200 ms to 7 s apart', async (t) => {
  const api = new MemoryApi();
  const { clock, rounds, lease } = keeping(t, api, { current: node });
  await settled();
  api.setUnreachable(true);
  for (let ms = 0; ms < 10_000 + 200 + 400 + 800; ms += 100) {
    await clock.advance(100);
    await settled();
  }
  assert.deepEqual(rounds, ['renewed', 'failed', 'failed', 'failed', 'failed']);
  api.setUnreachable(false);
  for (let ms = 0; ms < 1600; ms += 100) {
    await clock.advance(100);
    await settled();
  }
  assert.equal(rounds.at(-1), 'renewed');
  assert.equal(lease()?.spec?.renewTime, '2030-01-01T00:00:13.000000Z');
});
