import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Container, Image } from '#wire/generated/cri.ts';
import { ImageCleaner, type ImageCleanerSettings } from './image-cleaner.ts';
import { noImageMetrics } from './image-metrics.ts';

const settings: ImageCleanerSettings = { highThresholdPercent: 85, lowThresholdPercent: 80, minimumAgeMs: 120_000, maximumAgeMs: 0 };
const signal = new AbortController().signal;

/** A node with images of 100 bytes each on a disk of 1000. */
function aNode(names: readonly string[], over: Partial<ImageCleanerSettings> = {}) {
  const clock = new FakeClock();
  const node = {
    clock,
    images: [...names],
    used: new Set<string>(),
    mounted: [] as string[],
    stuck: new Set<string>(),
    availableBytes: 100,
    capacityBytes: 1000,
    warnings: [] as string[],
  };
  const cleaner = new ImageCleaner({
    runtime: {
      listImages: async () =>
        node.images.map((id) =>
          Image.create({ id, size: 100, repoDigests: id === 'loaded' ? [] : [`r.io/${id}@sha256:1`], pinned: id === 'pinned' }),
        ),
      listContainers: async () => [...node.used].map((imageRef) => Container.create({ imageRef })),
      removeImage: async ({ image }) => {
        if (node.stuck.has(image)) throw new Error(`${image} is stuck`);
        node.images = node.images.filter((id) => id !== image);
      },
    },
    mounted: () => node.mounted,
    diskUse: async () => ({ capacityBytes: node.capacityBytes, availableBytes: node.availableBytes }),
    records: { prune: async () => undefined },
    metrics: noImageMetrics,
    warn: (reason, message) => node.warnings.push(`${reason}: ${message}`),
    clock,
    logger: silentLogger,
    settings: { ...settings, ...over },
  });
  return { node, cleaner };
}

test('above the threshold the oldest unused images go, until it is enough; used, pinned and loaded ones stay', async () => {
  const { node, cleaner } = aNode(['loaded', 'pinned', 'used', 'a', 'b']);
  node.used.add('used');
  await cleaner.collect(signal);
  assert.deepEqual([node.images, node.warnings], [['loaded', 'pinned', 'used', 'b'], []]);
});

test('an image that a container mounts as a volume is in use', async () => {
  const { node, cleaner } = aNode(['a', 'b']);
  node.mounted = ['a'];
  await cleaner.collect(signal);
  assert.deepEqual(node.images, ['a']);
});

test('both off, by space and by age, nothing goes', async () => {
  const { node, cleaner } = aNode(['a'], { highThresholdPercent: 100 });
  node.availableBytes = 0;
  await cleaner.collect(signal);
  assert.deepEqual([node.images, node.warnings], [['a'], []]);
});

test('below the threshold nothing goes', async () => {
  const { node, cleaner } = aNode(['a']);
  node.availableBytes = 160;
  await cleaner.collect(signal);
  assert.deepEqual(node.images, ['a']);
});

test('an image that came while the kubelet runs is spared until it is old enough', async () => {
  const { node, cleaner } = aNode([]);
  node.availableBytes = 900;
  await cleaner.collect(signal);
  node.images.push('young');
  node.availableBytes = 100;
  await assert.rejects(cleaner.collect(signal), { code: 'NOT_ENOUGH_SPACE' });
  assert.deepEqual(node.images, ['young']);
  await node.clock.advance(120_000);
  await cleaner.collect(signal);
  assert.deepEqual(node.images, []);
});

test('not enough is told on the node each time, that it failed from the second time on', async () => {
  const { node, cleaner } = aNode(['a']);
  node.availableBytes = 0;
  node.used.add('a');
  const insufficient =
    "Insufficient free disk space on the node's image filesystem (100% of 1000 B used). Failed to free sufficient space by deleting " +
    'unused images (freed 0 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
  await assert.rejects(cleaner.collect(signal), { message: insufficient });
  assert.deepEqual(node.warnings, [`FreeDiskSpaceFailed: ${insufficient}`]);
  await assert.rejects(cleaner.collect(signal));
  assert.deepEqual(node.warnings.slice(1), [`FreeDiskSpaceFailed: ${insufficient}`, `ImageGCFailed: ${insufficient}`]);
});

test('an image that cannot be removed does not spare the others', async () => {
  const { node, cleaner } = aNode(['a', 'b']);
  node.availableBytes = 0;
  node.stuck.add('a');
  const message = 'wanted to free 200 bytes, but freed 100 bytes space with errors in image deletion: a is stuck';
  await assert.rejects(cleaner.collect(signal), { code: 'IMAGES_NOT_REMOVED', message });
  assert.deepEqual(node.images, ['a']);
});

test('a disk without capacity is told', async () => {
  const { node, cleaner } = aNode(['a']);
  node.capacityBytes = 0;
  await assert.rejects(cleaner.collect(signal));
  assert.deepEqual(node.warnings, ['InvalidDiskCapacity: invalid capacity 0 on image filesystem']);
});

test('unused for too long goes whatever the space, but only after the kubelet has run that long', async () => {
  const { node, cleaner } = aNode(['a', 'used'], { maximumAgeMs: 60_000, highThresholdPercent: 100 });
  node.used.add('used');
  await cleaner.collect(signal);
  await node.clock.advance(60_000);
  await cleaner.collect(signal);
  assert.deepEqual(node.images, ['a', 'used']);
  await node.clock.advance(1);
  await cleaner.collect(signal);
  assert.deepEqual(node.images, ['used']);
});

test('for the eviction manager everything unused goes, however young', async () => {
  const { node, cleaner } = aNode(['loaded', 'used', 'a', 'b']);
  node.used.add('used');
  assert.equal(await cleaner.deleteUnused(signal), 200);
  assert.deepEqual(node.images, ['loaded', 'used']);
});
