import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aContainer as aSpec } from '#api/testing/objects.ts';
import type { PodSpec } from '#api/types/core-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { killContainers } from './kill-pod.ts';
import { RuntimeCache } from './runtime-cache.ts';
import { MemoryRuntime } from './testing/memory-runtime.ts';
import { aContainer, observedOf } from './testing/observed.ts';

const pod = { uid: 'u', namespace: 'default', name: 'web' };
const { signal } = new AbortController();

/** So many seconds a program needs after its stop signal, and a hook, by container. */
interface Takes {
  readonly stop?: Readonly<Record<string, number>>;
  readonly hook?: Readonly<Record<string, number>>;
}

/** Programs that take their time to end; the log has the seconds since the kill began. */
class SlowRuntime extends MemoryRuntime {
  readonly told: string[] = [];
  readonly #slow: FakeClock;
  readonly #takes: Takes;
  readonly #startedAtMs: number;

  constructor(clock: FakeClock, takes: Takes) {
    super(clock);
    this.#slow = clock;
    this.#takes = takes;
    this.#startedAtMs = clock.now();
  }

  override async stopContainer(id: string, timeoutSeconds: number, inner: AbortSignal): Promise<void> {
    this.tell(`${id} stop ${timeoutSeconds}`);
    await this.#slow.sleep(Math.min(timeoutSeconds, this.#takes.stop?.[id] ?? 0) * 1000, inner);
    this.tell(`${id} ended`);
  }

  override async execSync(id: string, _command: readonly string[], _timeout: number, inner: AbortSignal) {
    this.tell(`${id} hook`);
    await this.#slow.sleep((this.#takes.hook?.[id] ?? 0) * 1000, inner);
    this.tell(`${id} hook done`);
    return { stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: 0 };
  }

  tell(text: string): void {
    this.told.push(`${(this.#slow.now() - this.#startedAtMs) / 1000} ${text}`);
  }
}

function kill(spec: PodSpec, graceSeconds: number, takes: Takes = {}) {
  const clock = new FakeClock();
  const runtime = new SlowRuntime(clock, takes);
  const events: string[] = [];
  const names = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].map(({ name }) => name ?? '');
  const state = observedOf(
    [],
    names.map((name) => aContainer(name, { id: name })),
  );
  const deadlineMs = new Cell(clock.now() + graceSeconds * 1000);
  const deps = {
    runtime,
    cache: new RuntimeCache({ runtime, files: createMemoryFiles(new MemoryTree()), clock }),
    http: { get: async () => 200 },
    events: { emit: (_: unknown, { reason }: { readonly reason: string }) => void events.push(reason) },
    clock,
  };
  const done = killContainers(state, pod, { reason: 'deleted', deadlineMs, spec }, deps, signal);
  const advance = async (seconds: number) => {
    for (let passed = 0; passed < seconds * 2; passed += 1) {
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      await clock.advance(500);
    }
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  const shorten = (seconds: number) => deadlineMs.set(clock.now() + seconds * 1000);
  return { told: runtime.told, events, done, advance, shorten };
}

const preStop = { lifecycle: { preStop: { exec: { command: ['bye'] } } } };
const sidecar = (name: string, more: object = {}) => aSpec({ name, restartPolicy: 'Always', ...more });

test('subtle 35: a hook that takes the whole grace is left behind, and the program gets two seconds all the same', async () => {
  const { told, done, advance, events } = kill({ containers: [aSpec({ name: 'main', ...preStop })] }, 10, { hook: { main: 60 }, stop: { main: 60 } });
  await advance(13);
  await done;
  assert.deepEqual(told, ['0 main hook', '10 main stop 2', '12 main ended']);
  assert.deepEqual(events, ['Killing']);
});

test('hook and program share the grace', async () => {
  const { told, done, advance } = kill({ containers: [aSpec({ name: 'main', ...preStop })] }, 10, { hook: { main: 4 }, stop: { main: 1 } });
  await advance(6);
  await done;
  assert.deepEqual(told, ['0 main hook', '4 main hook done', '4 main stop 6', '5 main ended']);
});

test('subtle 37: a grace that is shortened holds for the stop that is under way, which is asked for again', async () => {
  const { told, done, advance, shorten } = kill({ containers: [aSpec({ name: 'main' })] }, 30, { stop: { main: 60 } });
  await advance(3);
  shorten(5);
  await advance(6);
  await done;
  assert.deepEqual(told, ['0 main stop 30', '3 main stop 5', '8 main ended']);
});

test('subtle 37: a grace that is shortened leaves a hook the time that there is now', async () => {
  const spec = { containers: [aSpec({ name: 'quick', ...preStop }), aSpec({ name: 'long', ...preStop })] };
  const { told, done, advance, shorten } = kill(spec, 30, { hook: { quick: 6, long: 20 }, stop: { quick: 60, long: 60 } });
  await advance(3);
  shorten(5);
  await advance(8);
  await done;
  assert.deepEqual(told, ['0 quick hook', '0 long hook', '6 quick hook done', '6 quick stop 2', '8 long stop 2', '8 quick ended', '10 long ended']);
});

test('subtle 38: sidecars end after the apps, the last one first; their hooks run at once', async () => {
  const spec = { initContainers: [sidecar('first'), sidecar('second', preStop)], containers: [aSpec({ name: 'a' }), aSpec({ name: 'b' })] };
  const { told, done, advance } = kill(spec, 30, { stop: { a: 1, b: 4, second: 3, first: 1 }, hook: { second: 2 } });
  await advance(9);
  await done;
  assert.deepEqual(told, [
    '0 a stop 30',
    '0 b stop 30',
    '0 second hook',
    '1 a ended',
    '2 second hook done',
    '4 b ended',
    '4 second stop 26',
    '7 second ended',
    '7 first stop 23',
    '8 first ended',
  ]);
});

test('a sidecar waits neither for debuggers nor for init containers that run once', async () => {
  const spec = {
    initContainers: [aSpec({ name: 'once' }), sidecar('side')],
    containers: [aSpec({ name: 'main' })],
    ephemeralContainers: [{ name: 'debugger' }],
  };
  const { told, done, advance } = kill(spec, 30, { stop: { once: 9, debugger: 9, main: 1 } });
  await advance(10);
  await done;
  assert.ok(told.includes('1 side stop 29'), told.join('\n'));
});

test('a sidecar whose turn does not come within the grace is stopped when that is over, with the least time', async () => {
  const spec = { initContainers: [sidecar('side')], containers: [aSpec({ name: 'main' })] };
  const { told, done, advance, shorten } = kill(spec, 30, { stop: { main: 60, side: 60 } });
  await advance(2);
  shorten(4);
  await advance(7);
  await done;
  assert.deepEqual(told, ['0 main stop 30', '2 main stop 4', '6 side stop 2', '6 main ended', '8 side ended']);
});
