import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { Cell } from '#base/watchable.ts';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { kubeletTimings } from '../kubelet-config.ts';
import { createUpkeep } from './create-upkeep.ts';
import { UpkeepWorld } from './testing/upkeep-world.ts';

const roots = { root: '/kubelet', podLogs: '/pod-logs', containerLogs: '/container-logs' };

/** The upkeep of a node that runs until the test is over, for a pod that somebody knows or nobody. */
function rig(t: { after(undo: () => Promise<void>): void }, { isKnown, isReady }: { readonly isKnown: boolean; readonly isReady: boolean }) {
  const upkeep = new UpkeepWorld();
  const { memory, cache, files, clock } = upkeep.world;
  const configuration = parseKubeletConfiguration({}, 'the test');
  const sourcesReady = new Cell(isReady);
  const known = isKnown ? ['uid-of-web'] : [];
  const told: string[] = [];
  const orphans: string[] = [];
  const rounds: string[] = [];
  const counted = (what: string) => async () => void rounds.push(what);
  const countOf = (what: string) => rounds.filter((round) => round === what).length;
  const { logger, events, http: httpGet } = upkeep.removeDeps;
  const { run } = createUpkeep(
    { nodeName: 'node-1', roots, configuration, timings: kubeletTimings(configuration, {}) },
    { clock, logger, files, httpGet },
    {
      workers: {
        has: (uid) => known.includes(uid),
        knownUids: () => new Set(known),
        keepsNothing: (uid) => !known.includes(uid),
        remainsOf: () => 'running',
        takeDownOrphan: ({ metadata: { uid } }: Pod) => void orphans.push(uid),
      },
      cache,
      runtime: memory,
      cgroups: { pods: { orphans: async () => ['of-a-cgroup'] } },
      pods: { refreshCgroups: counted('cgroups') },
      allocations: { reconcile: counted('allocations') },
      images: { collect: counted('images') },
      recorder: { emit: ({ kind, name }, { type, reason, message }) => void told.push(`${kind}/${name} ${type} ${reason}: ${message}`) },
      events,
      sourcesReady,
      busy: upkeep.busy,
    },
  );
  const abort = new AbortController();
  const ended = run(abort.signal);
  t.after(async () => {
    abort.abort();
    await ended;
  });
  const advance = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      await upkeep.turns();
      await clock.advance(1000);
    }
    await upkeep.turns();
  };
  return { upkeep, told, orphans, countOf, sourcesReady, advance, ...upkeep.world };
}

const settled = { isKnown: true, isReady: true };

test('a runtime that cannot be asked is told of on the node, at each round of the minute', async (t) => {
  const { told, memory, advance } = rig(t, settled);
  memory.before = (call) => {
    if (call === 'listContainers') throw new Unavailable({ message: 'the runtime is away' });
  };
  await advance(121_000);
  const warning = 'Node/node-1 Warning ContainerGCFailed: the runtime is away';
  assert.deepEqual(told, [warning, warning]);
});

test('each part of the upkeep has its period', async (t) => {
  const { countOf, advance } = rig(t, settled);
  await advance(601_000);
  assert.deepEqual(['images', 'cgroups', 'allocations'].map(countOf), [3, 11, 61]);
});

test('subtle 59: nobody is an orphan before every source of pods has spoken', async (t) => {
  const { upkeep, orphans, sourcesReady, files, signal, advance } = rig(t, { isKnown: false, isReady: false });
  await upkeep.start();
  await files.ensureDirectory('/pod-logs/ns_old_uid-of-old', 0o755, signal);
  await files.ensureDirectory('/kubelet/pods/of-a-folder', 0o755, signal);
  await advance(30_000);
  assert.deepEqual([orphans, (await files.list('/pod-logs', signal)).length], [[], 2]);
  sourcesReady.set(true);
  await upkeep.settle();
  assert.deepEqual(new Set(orphans), new Set(['uid-of-web', 'of-a-folder', 'of-a-cgroup']));
  assert.deepEqual(await files.list('/pod-logs', signal), []);
});

test('dead containers of a pod that nobody knows stay until the sources have spoken', async (t) => {
  const { upkeep, sourcesReady, advance } = rig(t, { isKnown: false, isReady: false });
  await upkeep.end(await upkeep.start());
  await advance(61_000);
  assert.equal(upkeep.world.observed.containers.length, 1);
  sourcesReady.set(true);
  await advance(61_000);
  assert.equal(upkeep.world.observed.containers.length, 0);
});
