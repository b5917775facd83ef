import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { fromCri } from '#wire/cri/errors.ts';
import { AuthConfig, Image, type ImageSpec } from '#wire/generated/cri.ts';
import { GrpcFailure } from '#wire/grpc/failure.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import type { Credential } from './credentials.ts';
import { noImageMetrics } from './image-metrics.ts';
import { ImagePuller } from './image-puller.ts';
import { defaultImagePullerSettings } from './puller-settings.ts';

const { signal } = new AbortController();
const image = 'r.io/app:1';
const unknown = 2;

interface Pull {
  readonly image: string;
  readonly user: string;
  /** Fails with it as containerd does. */
  fail(details: string): void;
  done(): void;
}

/** A puller over a runtime whose pulls end when the test says so. */
class World {
  readonly clock = new FakeClock();
  readonly told: string[] = [];
  readonly pulls: Pull[] = [];
  readonly present = new Set<string>();
  inspectFails = '';
  credentials: readonly string[] = [];
  readonly puller: ImagePuller;

  constructor(settings: Partial<typeof defaultImagePullerSettings> = {}) {
    const { clock } = this;
    this.puller = new ImagePuller({
      runtime: this.#runtime() as RuntimePort, // the others are never asked for
      objects: { configMap: async () => undefined, secret: async () => undefined, watch: () => () => undefined },
      events: { emit: ({ name }, { type, reason, message }) => void this.told.push(`${name}: ${type} ${reason} ${message}`) },
      files: createMemoryFiles(new MemoryTree()),
      clock,
      roots: { root: '/kubelet' },
      logger: silentLogger,
      metrics: noImageMetrics,
      nodeCredentials: async (): Promise<readonly Credential[]> =>
        this.credentials.map((username) => ({ auth: AuthConfig.create({ username }), source: { kind: 'node' } })),
      runtimeHandlerOf: async () => '',
      wake: { signal: () => undefined },
      settings: { ...defaultImagePullerSettings, ...settings },
    });
  }

  #runtime(): Pick<RuntimePort, 'imageStatus' | 'pullImage' | 'listImages'> {
    return {
      listImages: async () => [],
      imageStatus: async ({ image: name }) => {
        if (this.inspectFails !== '') throw failure(this.inspectFails);
        return this.present.has(name) ? Image.create({ id: `id-of-${name}`, size: 1000 }) : undefined;
      },
      pullImage: ({ image: name }: ImageSpec, auth) =>
        new Promise<string>((resolve, reject) => {
          this.pulls.push({
            image: name,
            user: auth?.username ?? '',
            fail: (details) => reject(failure(details)),
            done: () => {
              this.present.add(name);
              resolve(`id-of-${name}`);
            },
          });
        }),
    };
  }

  ensure(container: Partial<Container> = {}, pod: Pod = aPod()) {
    return this.puller.ensure(pod, aContainer({ image, imagePullPolicy: 'IfNotPresent', ...container }), 'spec.containers{main}', signal);
  }

  /** Lets the puller go on until it waits for the runtime or for time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  }

  /** One wish whose pulls all fail. @returns what the container shows */
  async failing(details: string, container: Partial<Container> = {}): Promise<readonly [reason: string, message: string, retryInMs: number]> {
    const result = this.ensure(container);
    await this.settle();
    for (let at = this.pulls.length - 1; at < this.pulls.length; at += 1) {
      this.pulls[at]?.fail(details);
      await this.settle();
    }
    const missing = await result;
    assert.equal(missing.kind, 'missing');
    return missing.kind === 'missing' ? [missing.reason, missing.message, missing.retryInMs] : ['', '', 0];
  }
}

function failure(details: string): Error {
  return fromCri(new GrpcFailure({ message: details, details, status: unknown }), 'pull');
}

const events = (world: World) => world.told.splice(0).map((line) => line.replace('web: ', ''));

test('each policy does what it says, and tells it', async () => {
  const world = new World();
  const never = await world.ensure({ imagePullPolicy: 'Never' });
  const absent = `Container image "${image}" is not present with pull policy of Never`;
  assert.deepEqual(never, { kind: 'missing', reason: 'ErrImageNeverPull', message: absent, retryInMs: 10_000 });
  assert.deepEqual(events(world), [`Warning ErrImageNeverPull ${absent}`]);
  world.present.add(image);
  for (const imagePullPolicy of ['Never', 'IfNotPresent']) assert.equal((await world.ensure({ imagePullPolicy })).kind, 'ready');
  assert.deepEqual(
    events(world),
    Array(2).fill(`Normal Pulled Container image "${image}" already present on machine and can be accessed by the pod`),
  );
  const always = world.ensure({ imagePullPolicy: 'Always' });
  await world.settle();
  await world.clock.advance(2500);
  world.pulls[0]?.done();
  assert.equal((await always).kind, 'ready');
  assert.deepEqual(events(world), [
    `Normal Pulling Pulling image "${image}"`,
    `Normal Pulled Successfully pulled image "${image}" in 2.5s (2.5s including waiting). Image size: 1000 bytes.`,
  ]);
});

test('an image that cannot be looked at is told with the runtime’s words', async () => {
  const world = new World();
  world.inspectFails = 'database is closed';
  const message = `Failed to inspect image "${image}": database is closed`;
  assert.deepEqual(await world.ensure(), { kind: 'missing', reason: 'ImageInspectError', message, retryInMs: 10_000 });
  assert.deepEqual(events(world), [`Warning InspectFailed ${message}`]);
});

test('a registry that is away and a signature that is wrong have reasons of their own', async () => {
  const rows = [
    ['RegistryUnavailable: no route', 'RegistryUnavailable', `image pull failed for ${image} because the registry is unavailable: no route`],
    [
      'SignatureValidationFailed: no key',
      'SignatureValidationFailed',
      `image pull failed for ${image} because the signature validation failed: no key`,
    ],
    ['no such host', 'ErrImagePull', 'no such host'],
  ] as const;
  for (const [details, reason, message] of rows) {
    const world = new World();
    assert.deepEqual(await world.failing(details), [reason, message, 1000]);
    assert.deepEqual(events(world), [`Normal Pulling Pulling image "${image}"`, `Warning Failed Failed to pull image "${image}": ${details}`]);
  }
});

test('a pull that failed is tried again after 10 s, then twice as long each time, and meanwhile the pod shows the last error', async () => {
  const world = new World();
  assert.deepEqual(await world.failing('away'), ['ErrImagePull', 'away', 1000]);
  await world.clock.advance(1000);
  events(world);
  const backOff = `Back-off pulling image "${image}"`;
  assert.deepEqual(await world.ensure(), { kind: 'missing', reason: 'ImagePullBackOff', message: `${backOff}: ErrImagePull: away`, retryInMs: 9000 });
  assert.deepEqual(events(world), [`Normal BackOff ${backOff}`]);
  assert.equal(world.pulls.length, 1);
  await world.clock.advance(9000);
  assert.deepEqual(await world.failing('still away'), ['ErrImagePull', 'still away', 1000]);
  await world.clock.advance(1000);
  const again = await world.ensure();
  assert.deepEqual(again.kind === 'missing' && [again.message, again.retryInMs], [`${backOff}: ErrImagePull: still away`, 19_000]);
  await world.clock.advance(19_000);
  const good = world.ensure();
  await world.settle();
  world.pulls.at(-1)?.done();
  assert.equal((await good).kind, 'ready');
});

test('credentials are tried one after another; what each was told is told once', async () => {
  const world = new World();
  world.credentials = ['first', 'second', 'third'];
  const result = world.ensure();
  await world.settle();
  world.pulls[0]?.fail('denied');
  await world.settle();
  world.pulls[1]?.done();
  assert.equal((await result).kind, 'ready');
  assert.deepEqual(
    world.pulls.map(({ user }) => user),
    ['first', 'second'],
  );
  const other = new World();
  other.credentials = ['first', 'second', 'third'];
  const failing = other.ensure();
  for (const [at, details] of ['denied', 'gone', 'denied'].entries()) {
    await other.settle();
    other.pulls[at]?.fail(details);
  }
  const missing = await failing;
  assert.deepEqual(missing.kind === 'missing' && [missing.reason, missing.message], ['ErrImagePull', '[denied, gone]']);
});

test('pulls go one at a time in the order of their coming, or so many at once as is set', async () => {
  const imagesOf = async (maxParallelPulls: number) => {
    const world = new World({ maxParallelPulls });
    const results = ['a', 'b', 'c'].map((name) => world.ensure({ image: `r.io/${name}:1` }, aPod({ metadata: { uid: name, name } })));
    const begun: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      await world.settle();
      begun.push(world.pulls.length);
      world.pulls[at]?.done();
    }
    await Promise.all(results);
    return [begun, world.pulls.map((pull) => pull.image)];
  };
  const order = ['r.io/a:1', 'r.io/b:1', 'r.io/c:1'];
  assert.deepEqual(await imagesOf(1), [[1, 2, 3], order]);
  assert.deepEqual(await imagesOf(2), [[2, 3, 3], order]);
  assert.deepEqual(await imagesOf(Number.POSITIVE_INFINITY), [[3, 3, 3], order]);
});

test('more pulls than the registry may be asked fail, and are tried again', async () => {
  const world = new World({ maxParallelPulls: 5, pullsPerSecond: 1, pullBurst: 1 });
  const first = world.ensure({ image: 'r.io/a:1' });
  const second = await world.ensure({ image: 'r.io/b:1' });
  assert.deepEqual(second.kind === 'missing' && [second.reason, second.message], ['ErrImagePull', 'pull QPS exceeded']);
  world.pulls[0]?.done();
  await first;
  await world.clock.advance(10_000);
  const again = world.ensure({ image: 'r.io/b:1' });
  await world.settle();
  world.pulls[1]?.done();
  assert.equal((await again).kind, 'ready');
});
