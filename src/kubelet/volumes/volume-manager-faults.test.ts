import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aSecret } from '#api/testing/objects.ts';
import { aVolumeHost } from './testing/volume-host.ts';
import { access, podWith, remains, rootCa, secret, settings } from './testing/volume-pods.ts';

const { signal } = new AbortController();

test('whatever call to the node fails once: release leaves nothing, and a new try succeeds', async () => {
  const volumes = [settings, secret, access, { name: 'scratch', emptyDir: {} }, { name: 'ram', emptyDir: { medium: 'Memory' } }];
  const pod = podWith(volumes, { securityContext: { fsGroup: 9 } });
  for (let failAt = 1; ; failAt += 1) {
    const faults = { failAt, calls: 0 };
    const host = await aVolumeHost({ faults });
    for (const object of [aConfigMap(), aSecret(), rootCa]) host.objects.put(object);
    const outcome = await host.volumes.ensure(pod, signal);
    const isReached = faults.calls >= failAt;
    faults.failAt = Number.POSITIVE_INFINITY;
    const again = host.restart();
    if (failAt % 2 === 0) assert.equal((await again.ensure(pod, signal)).kind, 'mounted', `call ${failAt}`);
    await again.release('u1', signal);
    assert.deepEqual(await remains(host), [], `call ${failAt}`);
    assert.equal((await again.ensure(pod, signal)).kind, 'mounted', `call ${failAt}`);
    if (isReached) continue;
    assert.equal(outcome.kind, 'mounted');
    assert.ok(failAt > 50, `only ${failAt} calls were tried`);
    break;
  }
});

test('whatever call fails once while a pod is released: the next release leaves nothing', async () => {
  const pod = podWith([settings, secret, { name: 'scratch', emptyDir: {} }, { name: 'ram', emptyDir: { medium: 'Memory' } }]);
  for (let failAt = 1; ; failAt += 1) {
    const faults = { failAt: Number.POSITIVE_INFINITY, calls: 0 };
    const host = await aVolumeHost({ faults });
    for (const object of [aConfigMap(), aSecret()]) host.objects.put(object);
    const outcome = await host.volumes.ensure(pod, signal);
    const volume = outcome.kind === 'mounted' ? outcome.volumes.get('scratch') : undefined;
    assert.ok(volume);
    await host.volumes.prepareSubPath({ podUid: 'u1', containerName: 'main', index: 0, volume, relative: 'a' }, signal);
    Object.assign(faults, { failAt, calls: 0 });
    const failed = await host.volumes.release('u1', signal).then(
      () => false,
      () => true,
    );
    faults.failAt = Number.POSITIVE_INFINITY;
    await host.volumes.release('u1', signal);
    assert.deepEqual(await remains(host), [], `call ${failAt}`);
    if (!failed) break;
    assert.ok(failAt < 200);
  }
});
