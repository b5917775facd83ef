import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { amountOf, parseThresholds, printValue, type Threshold, withContainerFilesystem } from './thresholds.ts';

const parse = (given: Readonly<Record<string, unknown>>) => parseThresholds(parseKubeletConfiguration(given, 'test'));
const text = ({ signal, value, graceMs, isHard }: Threshold) => [signal, printValue(value, 1000), graceMs, isHard];

test('without a word of it the defaults hold, and the memory of all pods has the threshold of the node', () => {
  assert.deepEqual(parse({}).map(text), [
    ['memory.available', '100Mi', 0, true],
    ['nodefs.available', '100', 0, true],
    ['nodefs.inodesFree', '50', 0, true],
    ['imagefs.available', '150', 0, true],
    ['imagefs.inodesFree', '50', 0, true],
    ['allocatableMemory.available', '100Mi', 0, true],
  ]);
});

test('subtle 60: a file that sets only memory has no thresholds for disks, unless it asks for the defaults', () => {
  const evictionHard = { 'memory.available': '200Mi' };
  assert.deepEqual(
    parse({ evictionHard, enforceNodeAllocatable: [] }).map(({ signal }) => signal),
    ['memory.available'],
  );
  assert.deepEqual(parse({ evictionHard, mergeDefaultEvictionSettings: true, enforceNodeAllocatable: [] }).map(text), [
    ['memory.available', '200Mi', 0, true],
    ['nodefs.available', '100', 0, true],
    ['nodefs.inodesFree', '50', 0, true],
    ['imagefs.available', '150', 0, true],
    ['imagefs.inodesFree', '50', 0, true],
  ]);
});

test('a soft threshold has its grace, a minimum reclaim belongs to its signal, 0% and 100% are none', () => {
  const found = parse({
    evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '100%' },
    evictionSoft: { 'nodefs.available': '1Gi' },
    evictionSoftGracePeriod: { 'nodefs.available': '1m30s' },
    evictionMinimumReclaim: { 'nodefs.available': '500Mi' },
  });
  assert.deepEqual(found.map(text), [['nodefs.available', '1Gi', 90_000, false]]);
  const reclaim = found[0]?.minReclaim;
  assert.equal(reclaim === undefined ? undefined : amountOf(reclaim, 0), 500 * 2 ** 20);
});

test('what makes no sense is refused in upstream’s words', () => {
  const refusals: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ evictionHard: { 'disk.available': '1Gi' } }, /^InvalidInput: unsupported eviction signal disk.available$/],
    [{ evictionHard: { 'nodefs.available': '101%' } }, /eviction percentage threshold nodefs.available must be <= 100%: 101%$/],
    [{ evictionHard: { 'nodefs.available': '-1%' } }, /eviction percentage threshold nodefs.available must be >= 0%: -1%$/],
    [{ evictionHard: { 'memory.available': '0' } }, /eviction threshold memory.available must be positive: 0$/],
    [{ evictionSoft: { 'pid.available': '10' } }, /grace period must be specified for the soft eviction threshold pid.available$/],
    [{ evictionMinimumReclaim: { 'memory.available': '-1Mi' } }, /negative eviction minimum reclaim specified for memory.available$/],
  ];
  for (const [given, expected] of refusals) assert.throws(() => parse(given), expected);
});

test('the containers’ file system has the thresholds of the one that it is, and none of its own', () => {
  const thresholds = parse({ evictionHard: { 'nodefs.available': '10', 'imagefs.available': '20', 'containerfs.available': '30' } });
  const ofContainers = (layout: 'one' | 'images-apart' | 'split') =>
    withContainerFilesystem(thresholds, layout).flatMap(({ signal, value }) => (signal === 'containerfs.available' ? [amountOf(value, 0)] : []));
  assert.deepEqual([ofContainers('one'), ofContainers('images-apart'), ofContainers('split')], [[10], [20], [10]]);
});
