import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryLogind } from '#os/memory/logind.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { ShutdownManager } from './shutdown-manager.ts';
import { createShutdownTimes } from './shutdown-times.ts';

const { signal } = new AbortController();
const statePath = '/kubelet/graceful_node_shutdown_state';
const overridePath = '/etc/systemd/logind.conf.d/99-kubelet.conf';
const periods = [
  { priority: 0, seconds: 20 },
  { priority: 2_000_000_000, seconds: 10 },
];

/** A host that may go down, with three pods; each takes its time to end, in seconds. */
function rig(takes: Readonly<Record<string, number>> = {}) {
  const clock = new FakeClock();
  const files = createMemoryFiles(new MemoryTree());
  const logind = new MemoryLogind();
  logind.delayMs = 30_000;
  const isShuttingDown = new Cell(false);
  const registry = new Registry();
  const log: string[] = [];
  const startedAtMs = clock.now();
  const note = (text: string) => log.push(`${Math.round((clock.now() - startedAtMs) / 1000)} ${text}`);
  const pods = [
    aPod({ metadata: { name: 'web' }, spec: { terminationGracePeriodSeconds: 60 } }),
    aPod({ metadata: { name: 'db' }, spec: { terminationGracePeriodSeconds: 5 } }),
    aPod({ metadata: { name: 'system' }, spec: { priority: 2_000_001_000 } }),
  ];
  const create = () =>
    new ShutdownManager({
      periods,
      logind: async () => logind,
      pods: () => pods,
      putOut: async ({ metadata: { name } }, { reason, message }, graceSeconds) => {
        note(`${name} ${graceSeconds} ${reason}: ${message}`);
        await clock.sleep((takes[name ?? ''] ?? 1) * 1000, signal);
      },
      untilStopped: async ({ metadata }) => note(`${metadata.name} has gone`),
      isShuttingDown,
      tellNode: note,
      times: createShutdownTimes({ path: statePath, files, registry, clock, logger: silentLogger }),
      files,
      clock,
      logger: silentLogger,
    });
  const abort = new AbortController();
  const running = files.ensureDirectory('/kubelet', 0o755, signal).then(() => create().run(abort.signal));
  const settle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  };
  const advance = async (seconds: number) => {
    for (let passed = 0; passed < seconds * 10; passed += 1) {
      await clock.advance(100);
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    }
  };
  const stop = async () => {
    abort.abort();
    await running;
  };
  const read = async (path: string) => Buffer.from((await files.read(path, signal)) ?? []).toString();
  return { clock, files, logind, isShuttingDown, registry, log, running, settle, advance, stop, read };
}

const bye = 'Terminated: Pod was terminated in response to imminent node shutdown.';

test('pods end group by group, each with what its group and its own grace allow, and then the host may go down', async () => {
  const { logind, isShuttingDown, log, settle, advance, stop, read, registry, clock } = rig({ web: 3, db: 1, system: 2 });
  await settle();
  assert.equal(logind.locks, 1);
  const startTime = new Date(clock.now()).toISOString();
  logind.announce(true);
  await settle();
  assert.equal(isShuttingDown.get(), true);
  assert.deepEqual(JSON.parse(await read(statePath)), { startTime, endTime: '0001-01-01T00:00:00Z' });
  await advance(4);
  assert.equal(logind.locks, 1);
  await advance(2);
  assert.equal(logind.locks, 0);
  assert.deepEqual(log, [
    '0 Shutdown manager detected shutdown event',
    `0 web 20 ${bye}`,
    `0 db 5 ${bye}`,
    '1 db has gone',
    '3 web has gone',
    `3 system 10 ${bye}`,
    '5 system has gone',
  ]);
  const { endTime } = JSON.parse(await read(statePath)) as { endTime: string };
  assert.equal(Date.parse(endTime) - Date.parse(startTime), 5000);
  const metrics = await registry.metrics();
  assert.match(metrics, new RegExp(`kubelet_graceful_shutdown_start_time_seconds ${Date.parse(startTime) / 1000}\n`));
  assert.match(metrics, new RegExp(`kubelet_graceful_shutdown_end_time_seconds ${Math.floor(Date.parse(endTime) / 1000)}\n`));
  await stop();
});

test('a group that takes too long goes on beside the next', async () => {
  const { logind, log, settle, advance, stop } = rig({ web: 25 });
  await settle();
  logind.announce(true);
  await advance(30);
  assert.deepEqual(log.slice(3), ['1 db has gone', `20 system 10 ${bye}`, '21 system has gone', '25 web has gone']);
  assert.equal(logind.locks, 0);
  await stop();
});

test('a shutdown that is called off spares the groups whose turn has not come, and the lock is taken again', async () => {
  const { logind, isShuttingDown, log, settle, advance, stop } = rig({ web: 3 });
  await settle();
  logind.announce(true);
  await advance(2);
  logind.announce(false);
  await advance(10);
  assert.deepEqual([isShuttingDown.get(), logind.locks], [false, 1]);
  assert.ok(log.includes('2 Shutdown manager detected shutdown cancellation'));
  assert.ok(!log.some((line) => line.includes('system')));
  await stop();
  assert.equal(logind.locks, 0);
});

test('a login manager that holds up shutdowns for too short is told otherwise', async () => {
  const { logind, settle, advance, stop, read } = rig();
  logind.delayMs = 5000;
  logind.delayAfterReloadMs = 30_000;
  await settle();
  await advance(1);
  assert.equal(await read(overridePath), '# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=30\n');
  assert.equal(logind.locks, 1);
  await stop();
});

test('one that does not listen, or is not there, is left alone', async () => {
  for (const spoil of [(logind: MemoryLogind) => (logind.delayMs = 5000), (logind: MemoryLogind) => (logind.isReachable = false)]) {
    const { logind, settle, advance, running } = rig();
    spoil(logind);
    await settle();
    await advance(10);
    await running;
    assert.equal(logind.locks, 0);
  }
});

test('a connection that is lost is made again, as often as it takes, and the lock with it', async () => {
  const { logind, isShuttingDown, settle, advance, stop } = rig();
  await settle();
  logind.isReachable = false;
  logind.drop();
  await advance(3);
  logind.isReachable = true;
  await advance(2);
  assert.equal(logind.locks, 1);
  logind.announce(true);
  await settle();
  assert.equal(isShuttingDown.get(), true);
  await stop();
});
