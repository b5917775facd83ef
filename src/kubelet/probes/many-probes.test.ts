import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { aContainer, observedOf } from '../runtime/testing/observed.ts';
import { createProbeManager } from './probe-manager.ts';

const pods = 1500; // with two probes each
const periodMs = 7_000;
const minutes = 1;

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

test('three thousand probes keep each its period, however long each look takes', async (t) => {
  const clock = new FakeClock();
  const askedAt = new Map<string, number[]>();
  const startedAtMs = clock.now();
  const manager = createProbeManager({
    pods: {
      get: (uid) => observedOf([], [aContainer('c', { id: `c-${uid}`, startedAtMs })]),
      ownerOf: (id) => id.slice('c-'.length),
      subscribe: () => () => undefined,
    },
    runtime: {
      async execSync(id, [command], _timeout, signal) {
        const probe = `${id} ${command}`;
        askedAt.set(probe, [...(askedAt.get(probe) ?? []), clock.now() - startedAtMs]);
        await clock.sleep(30, signal); // a look takes its time
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
  for (let n = 0; n < pods; n += 1) manager.ensure(podOf(n));
  await clock.advance(minutes * 60_000);
  const expected = Array.from({ length: Math.floor((minutes * 60_000) / periodMs) + 1 }, (_, n) => n * periodMs);
  assert.equal(askedAt.size, 2 * pods);
  for (const times of askedAt.values()) assert.deepEqual(times, expected);
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
