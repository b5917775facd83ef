import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type VolumePlugin, VolumeSetUpFailed } from '../volumes/volume-plugin.ts';
import { createStorageMetrics } from './storage-metrics.ts';

const { signal } = new AbortController();

async function lines(registry: Registry, pattern: RegExp): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#') && pattern.test(line));
}

test('what plugins do is timed by what came of it', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const plugin: VolumePlugin = {
    name: 'kubernetes.io~secret',
    supports: () => true,
    refs: () => [],
    readsPod: () => false,
    async setUp({ name }) {
      await clock.advance(500);
      if (name === 'missing') throw new VolumeSetUpFailed({ message: 'secret "s" not found' });
      return { hostPath: '/v', readOnly: true, relabel: true };
    },
    tearDown: async () => undefined,
    reconstruct: async () => [],
  };
  const measured = createStorageMetrics(registry, clock, () => [])(plugin);
  await measured.setUp({ name: 'there' }, aPod({}), signal);
  await assert.rejects(measured.setUp({ name: 'missing' }, aPod({}), signal), VolumeSetUpFailed);
  await measured.tearDown('u', 'there', signal);
  const of = (operation: string, status: string) =>
    `storage_operation_duration_seconds_sum{volume_plugin="kubernetes.io/secret",operation_name="${operation}",status="${status}",migrated="false"}`;
  assert.deepEqual(await lines(registry, /_sum/), [
    `${of('volume_mount', 'success')} 0.5`,
    `${of('volume_mount', 'fail-unknown')} 0.5`,
    `${of('volume_unmount', 'success')} 0`,
  ]);
});

test('volumes are counted by what pods want and what they have', async () => {
  const registry = new Registry();
  const figure = (kind: string, isMounted: boolean) => ({ plugin: `kubernetes.io~${kind}`, isMounted });
  createStorageMetrics(registry, new FakeClock(), () => [figure('secret', true), figure('secret', false), figure('empty-dir', true)]);
  assert.deepEqual(await lines(registry, /total_volumes/), [
    'volume_manager_total_volumes{plugin_name="kubernetes.io/secret",state="desired_state_of_world"} 2',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/secret",state="actual_state_of_world"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 1',
  ]);
});
