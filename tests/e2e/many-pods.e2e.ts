import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { WatchEvent } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { busybox } from '../support/pods.ts';
import { isSoak } from '../support/soak.ts';
import { startCluster } from '../support/start-cluster.ts';

// As many pods as a node may have, and pods that come and go; the file ends with the check that nothing is left on the host.
const atOnce = isSoak ? 110 : 25;
const cycles = isSoak ? 1000 : 20;
const patienceMs = isSoak ? 480_000 : 60_000;
// The store's history is as long as its time: with upstream's five minutes nothing of it would be let go while the test runs.
const cluster = await startCluster({ upFlags: ['--timing', 'storeCompactionMs=5000'] });

const podNamed = (name: string) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sleep', '100000'] }],
  },
});

/** Makes the pods, as many at a time as given, and calls back with each change of each until all are `done`. */
async function follow(
  names: readonly string[],
  done: (event: WatchEvent<Pod>) => boolean,
  begin: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  setMaxListeners(0, signal); // every call listens to it
  const left = new Set(names);
  const { resourceVersion = '' } = await cluster.client.list(podKind, { namespace: 'default' }, signal);
  const events = cluster.client.watch(podKind, { namespace: 'default', resourceVersion }, signal);
  const begun = begin(signal);
  for await (const event of events) {
    if (event.type !== 'BOOKMARK' && done(event)) left.delete(event.object.metadata.name);
    if (left.size === 0) break;
  }
  await begun;
  assert.deepEqual([...left], []);
}

const isRunning = (event: WatchEvent<Pod>) => event.type !== 'BOOKMARK' && event.object.status?.phase === 'Running';
const isGone = (event: WatchEvent<Pod>) => event.type === 'DELETED';
const start = (names: readonly string[]) =>
  follow(names, isRunning, (signal) => Promise.all(names.map((name) => cluster.client.create(podKind, podNamed(name), signal))));
const remove = (names: readonly string[]) =>
  follow(names, isGone, (signal) => Promise.all(names.map((name) => cluster.client.delete(podKind, { namespace: 'default', name }, {}, signal))));

/** MiB that our processes hold, without what is shared. */
async function memoryMiB(): Promise<number> {
  const sizes = await Promise.all(
    ['control-plane', 'kubelet'].map(async (part) => {
      const { pid } = JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { readonly pid: number };
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

test(`${atOnce} pods at once all run, and are all removed`, async () => {
  const names = Array.from({ length: atOnce }, (_, index) => `many-${index}`);
  await start(names);
  await remove(names);
});

test(`${cycles} pods come and go one after another, and memory stays flat`, async (t) => {
  const cycle = async (name: string) => {
    await start([name]);
    await remove([name]);
  };
  // The collector lets it rise and fall: the floors of two stretches are compared. Before them the records of starts fill up to what is kept.
  const stretch = Math.floor(cycles / 4);
  const floors = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let index = 0; index < stretch * floors.length; index++) {
    await cycle(`cycle-${index}`);
    const at = Math.floor(index / stretch);
    floors[at] = Math.min(floors[at] ?? 0, await memoryMiB());
  }
  const [, , before = 0, after = 0] = floors;
  t.diagnostic(`least memory of control plane and kubelet in each quarter: ${floors.map((floor) => floor.toFixed()).join(', ')} MiB`);
  assert.ok(after < before + 30, `memory grew from ${before.toFixed()} to ${after.toFixed()} MiB`);
});
