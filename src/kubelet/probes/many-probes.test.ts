import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { aContainer, observedOf } from '../runtime/testing/observed.ts';
import { createProbeManager } from './probe-manager.ts';

const pods = 2500; // with two probes each
const periodMs = 10_000;
const watchedMs = 45_000;
const spreadMs = 4; // between the starts of two pods

function podOf(n: number): Pod {
  const probe = (command: string) => ({ exec: { command: [command] }, periodSeconds: periodMs / 1000 });
  const container = { name: 'c', livenessProbe: probe('alive'), readinessProbe: probe('ready') };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${n}`, namespace: 'ns', uid: `u${n}`, resourceVersion: '1', creationTimestamp: '' },
    spec: { containers: [container] },
  };
}

test('five thousand probes keep each its own period, however long a look takes, and cost nothing between two looks', async (t) => {
  const clock = new FakeClock();
  const askedAt = new Map<string, number[]>();
  const startedAtMs = clock.now();
  let [asking, mostAsking, mostTimers] = [0, 0, 0];
  const manager = createProbeManager({
    pods: {
      get: (uid) => observedOf([], [aContainer('c', { id: `c-${uid}`, startedAtMs: clock.now() })]),
      ownerOf: (id) => id.slice('c-'.length),
      subscribe: () => () => undefined,
    },
    runtime: {
      async execSync(id, [command], _timeout, signal) {
        const probe = `${id} ${command}`;
        askedAt.set(probe, [...(askedAt.get(probe) ?? []), clock.now() - startedAtMs]);
        asking += 1;
        [mostAsking, mostTimers] = [Math.max(mostAsking, asking), Math.max(mostTimers, clock.waiting)];
        await clock.sleep(30, signal); // a look takes its time
        asking -= 1;
        return { exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() };
      },
    },
    probers: { httpGet: () => assert.fail(), tcpConnect: () => assert.fail(), grpcHealth: () => assert.fail() },
    events: { emit: () => undefined },
    hostIp: '192.0.2.1',
    version: '1.36',
    clock,
    logger: silentLogger,
    random: () => 0.5,
  });
  t.after(() => manager.close());
  for (let n = 0; n < pods; n += 1) {
    manager.ensure(podOf(n));
    await clock.advance(spreadMs);
  }
  await clock.advance(watchedMs - pods * spreadMs);
  assert.equal(askedAt.size, 2 * pods);
  const late: string[] = [];
  for (const [probe, times] of askedAt) {
    const firstMs = Number(/\d+/.exec(probe)?.[0]) * spreadMs;
    const expected = Array.from({ length: 1 + Math.floor((watchedMs - firstMs) / periodMs) }, (_, n) => firstMs + n * periodMs);
    if (times.join() !== expected.join()) late.push(`${probe}: ${times.join()}`);
  }
  assert.deepEqual(late, []);
  // Looks stay as spread as the starts were; nothing but one timer a probe, or the look itself, is kept.
  assert.ok(mostAsking <= 2 * Math.ceil(30 / spreadMs) + 2, `${mostAsking} at once`);
  assert.ok(mostTimers <= 2 * pods + 1, `${mostTimers} timers`);
  await manager.close();
  assert.equal(clock.waiting, 0);
});

test('a look that takes longer than a period is followed by the next at once, back in step', async (t) => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const startedAtMs = clock.now();
  const tookMs = [2_500, 10, 10];
  const manager = createProbeManager({
    pods: {
      get: () => observedOf([], [aContainer('c', { id: 'c', startedAtMs })]),
      ownerOf: () => 'u',
      subscribe: () => () => undefined,
    },
    runtime: {
      async execSync(_id, _command, _timeout, signal) {
        asked.push(clock.now() - startedAtMs);
        await clock.sleep(tookMs.shift() ?? 10, signal);
        return { exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() };
      },
    },
    probers: { httpGet: () => assert.fail(), tcpConnect: () => assert.fail(), grpcHealth: () => assert.fail() },
    events: { emit: () => undefined },
    hostIp: '192.0.2.1',
    version: '1.36',
    clock,
    logger: silentLogger,
    random: () => 0.5,
  });
  t.after(() => manager.close());
  const pod = podOf(0);
  const livenessProbe = { exec: { command: ['check'] }, periodSeconds: 1 };
  manager.ensure({ ...pod, metadata: { ...pod.metadata, uid: 'u' }, spec: { containers: [{ name: 'c', livenessProbe }] } });
  await clock.advance(4_500);
  assert.deepEqual(asked, [0, 2_500, 3_000, 4_000]);
});
