import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, Probe } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { ProbeKind } from '../ports/probes.ts';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { createProbeManager, type ProbedPods, type ProbeManager } from './probe-manager.ts';

const uid = 'u1';
const exec = { exec: { command: ['check'] } };

function aPod(probes: { startup?: Probe; readiness?: Probe; liveness?: Probe }, options: { sidecar?: boolean; deleting?: boolean } = {}): Pod {
  const { startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe } = probes;
  const container = { name: 'c', startupProbe, readinessProbe, livenessProbe };
  const deletionTimestamp = options.deleting === true ? '2030-01-01T00:00:00Z' : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid, resourceVersion: '1', creationTimestamp: '', deletionTimestamp },
    spec: options.sidecar === true ? { containers: [], initContainers: [{ ...container, restartPolicy: 'Always' }] } : { containers: [container] },
  };
}

/** One pod in a runtime whose containers are started, ended, and answer probes as the test says. */
class World implements ProbedPods {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly changes: string[] = [];
  readonly askedAtMs: number[] = [];
  /** Exit codes of the next probes; the last one repeats. `hang`: no answer. */
  answers: (number | 'hang')[] = [0];
  readonly manager: ProbeManager;
  readonly #startMs = this.clock.now();
  #state: PodRuntimeState = { uid, namespace: 'ns', name: 'p', sandboxes: [], containers: [] };
  #listener: (podUid: string) => void = () => undefined;

  constructor() {
    this.manager = createProbeManager({
      pods: this,
      clock: this.clock,
      logger: silentLogger,
      hostIp: '192.0.2.1',
      version: '1.36',
      events: { emit: (pod, event) => this.events.push(`${pod.name} ${event.fieldPath} ${event.reason}: ${event.message}`) },
      runtime: {
        execSync: (_id, _command, _timeout, signal) => {
          this.askedAtMs.push(this.clock.now() - this.#startMs);
          const answer = (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? 0;
          if (answer === 'hang') return new Promise((_, reject) => onAbort(signal, () => reject(reasonOf(signal))));
          return Promise.resolve({ exitCode: answer, stdout: Buffer.from('out'), stderr: new Uint8Array() });
        },
      },
      probers: { httpGet: () => assert.fail(), tcpConnect: () => assert.fail(), grpcHealth: () => assert.fail() },
    });
    this.manager.subscribe((_, id, kind) => this.changes.push(`${id} ${kind} ${this.manager.result(id, kind)}`));
  }

  get(): PodRuntimeState {
    return this.#state;
  }

  ownerOf(containerId: string): string | undefined {
    return this.#state.containers.some(({ id }) => id === containerId) ? uid : undefined;
  }

  subscribe(listener: (podUid: string) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  async container(id: string, phase: ContainerRecord['phase']): Promise<void> {
    const known = this.#state.containers.find((one) => one.id === id);
    const record = { ...(known ?? { id, name: 'c', startedAtMs: this.clock.now() }), phase } as ContainerRecord; // what probes look at
    this.#state = { ...this.#state, containers: [record, ...this.#state.containers.filter((one) => one.id !== id)] };
    this.#listener(uid);
    await this.clock.advance(0);
  }

  result(kind: ProbeKind, id = 'a'): unknown {
    return this.manager.result(id, kind);
  }
}

async function running(pod: Pod, answers: (number | 'hang')[] = [0]): Promise<World> {
  const world = new World();
  world.answers = answers;
  world.manager.ensure(pod);
  await world.container('a', 'running');
  return world;
}

test('a container is asked as soon as it runs, then every period', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 5 } }));
  assert.deepEqual(world.changes, ['a readiness success']);
  await world.clock.advance(12_000);
  assert.deepEqual(world.askedAtMs, [0, 5_000, 10_000]);
  assert.deepEqual(world.changes, ['a readiness success']);
});

test('a container without a probe has no result, one that nobody knows neither', async () => {
  const world = await running(aPod({ readiness: exec }));
  assert.equal(world.result('liveness'), undefined);
  assert.equal(world.result('readiness', 'other'), undefined);
});

test('before the first answer the initial results hold', async () => {
  const world = await running(aPod({ startup: exec, readiness: exec, liveness: exec }), ['hang']);
  assert.deepEqual([world.result('startup'), world.result('readiness'), world.result('liveness')], ['unknown', 'failure', 'success']);
});

test('a result is known to who asks before the manager heard of the container', async () => {
  const world = await running(aPod({ readiness: exec }));
  world.manager.subscribe(() => undefined);
  await world.container('b', 'running');
  assert.equal(world.result('readiness', 'a'), undefined);
  assert.equal(world.result('readiness', 'b'), 'success');
});

test('the initial delay is kept', async () => {
  const world = await running(aPod({ readiness: { ...exec, initialDelaySeconds: 3, periodSeconds: 10 } }));
  await world.clock.advance(3_000);
  assert.deepEqual(world.askedAtMs, [3_000]);
});

test('liveness and readiness wait for the startup probe and begin at once behind it', async () => {
  const world = await running(aPod({ startup: { ...exec, periodSeconds: 2 }, readiness: { ...exec, periodSeconds: 60 } }), [1, 0]);
  assert.deepEqual(world.askedAtMs, [0]);
  await world.clock.advance(2_000);
  assert.deepEqual(world.changes, ['a startup success', 'a readiness success']);
  assert.deepEqual(world.askedAtMs, [0, 2_000, 2_000]);
  await world.clock.advance(30_000);
  assert.equal(world.askedAtMs.length, 3, 'a startup probe that succeeded is not asked again');
});

test('a liveness probe fails at its threshold, tells each failure, and waits for another container', async () => {
  const world = await running(aPod({ liveness: { ...exec, periodSeconds: 1, failureThreshold: 2 } }), [0, 1]);
  await world.clock.advance(10_000);
  assert.deepEqual(world.changes, ['a liveness failure']);
  assert.deepEqual(world.events, [
    'p spec.containers{c} Unhealthy: Liveness probe failed: out',
    'p spec.containers{c} Unhealthy: Liveness probe failed: out',
  ]);
  assert.deepEqual(world.askedAtMs, [0, 1_000, 2_000]);
  world.answers = [0];
  await world.container('b', 'running');
  assert.equal(world.result('liveness', 'b'), 'success');
  assert.equal(world.askedAtMs.length, 4);
});

test('readiness goes and comes', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 1, failureThreshold: 1 } }), [0, 1, 0]);
  await world.clock.advance(2_000);
  assert.deepEqual(world.changes, ['a readiness success', 'a readiness failure', 'a readiness success']);
});

test('a container that ended is not ready, and is not asked', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 1 } }));
  await world.container('a', 'exited');
  await world.clock.advance(5_000);
  assert.deepEqual(world.changes, ['a readiness success', 'a readiness failure']);
  assert.equal(world.askedAtMs.length, 1);
});

test('an answer about a container that is gone is not taken for the next one', async () => {
  const world = await running(aPod({ readiness: exec }), ['hang', 1]);
  await world.container('a', 'exited');
  await world.container('b', 'running');
  assert.equal(world.result('readiness', 'b'), 'failure');
  assert.equal(world.askedAtMs.length, 2);
});

test('a pod that is being deleted is not restarted by its probes, and stays ready while it is', async () => {
  const world = await running(aPod({ liveness: { ...exec, periodSeconds: 1, failureThreshold: 1 }, readiness: { ...exec, periodSeconds: 1 } }));
  world.manager.ensure(aPod({}, { deleting: true }));
  world.answers = [1];
  await world.clock.advance(1_000);
  assert.equal(world.result('liveness'), 'success');
  assert.deepEqual(world.events, ['p spec.containers{c} Unhealthy: Readiness probe failed: out']);
});

test('a stopping pod keeps readiness alone; a sidecar keeps all until the end', async () => {
  const probes = { liveness: { ...exec, periodSeconds: 1, failureThreshold: 1 }, readiness: { ...exec, periodSeconds: 1 } };
  for (const [sidecar, asked] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const world = await running(aPod(probes, { sidecar }));
    const before = world.askedAtMs.length;
    world.manager.stopRestarting(uid);
    await world.clock.advance(1_000);
    assert.equal(world.askedAtMs.length - before, asked);
  }
});

test('a removed pod leaves no timer', async () => {
  const world = await running(aPod({ liveness: exec, readiness: exec }));
  world.manager.remove(uid);
  assert.equal(world.clock.waiting, 0);
  await world.manager.close();
});

test('close ends a probe that hangs', async () => {
  const world = await running(aPod({ liveness: exec }), ['hang']);
  await world.manager.close();
  assert.equal(world.clock.waiting, 0);
});
