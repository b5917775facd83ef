import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuantity } from '#api/quantity.ts';
import { type EvictionState, judge, nothingSeen } from './judge.ts';
import type { Observations, Signal } from './signals.ts';
import type { Threshold } from './thresholds.ts';

const transitionMs = 300_000;
const second = 1000;

const threshold = (signal: Signal, amount: string, given: Partial<Threshold> = {}): Threshold => ({
  signal,
  value: { kind: 'amount', quantity: parseQuantity(amount) },
  graceMs: 0,
  isHard: true,
  minReclaim: undefined,
  ...given,
});

/** The verdicts of looks at one signal, ten seconds apart. */
function looks(thresholds: readonly Threshold[], signal: Signal, available: readonly number[]) {
  let state: EvictionState = nothingSeen;
  return available.map((amount, round) => {
    const nowMs = round * 10 * second;
    const observations: Observations = new Map([[signal, { available: amount, capacity: 1000, atMs: nowMs + 1 }]]);
    const verdict = judge(thresholds, observations, state, nowMs, transitionMs);
    state = verdict.state;
    return [verdict.pressures.join(), verdict.toReclaim.map((one) => one.signal).join()];
  });
}

test('a hard threshold counts at once, and its pressure stays for the transition period', () => {
  const found = looks([threshold('memory.available', '100')], 'memory.available', [100, 99, ...Array(31).fill(500)]);
  assert.deepEqual(found.slice(0, 3), [
    ['', ''],
    ['MemoryPressure', 'memory.available'],
    ['MemoryPressure', ''],
  ]);
  assert.deepEqual([found[30]?.[0], found[31]?.[0]], ['MemoryPressure', '']);
});

test('a soft threshold shows as pressure at once and counts after its grace, which begins anew when it was not met', () => {
  const soft = threshold('nodefs.available', '100', { graceMs: 20 * second, isHard: false });
  assert.deepEqual(
    looks([soft], 'nodefs.available', [50, 50, 200, 50, 50, 50]).map(([pressure, reclaim]) => [pressure, reclaim]),
    [
      ['DiskPressure', ''],
      ['DiskPressure', ''],
      ['DiskPressure', ''],
      ['DiskPressure', ''],
      ['DiskPressure', ''],
      ['DiskPressure', 'nodefs.available'],
    ],
  );
});

test('what was met is met until the minimum reclaim is there too', () => {
  const some = threshold('pid.available', '100', { minReclaim: { kind: 'amount', quantity: parseQuantity('50') } });
  assert.deepEqual(
    looks([some], 'pid.available', [120, 90, 120, 149, 150, 120]).map(([, reclaim]) => reclaim),
    ['', 'pid.available', 'pid.available', 'pid.available', '', ''],
  );
});

test('the same reading puts nobody out twice', () => {
  const observations: Observations = new Map([['memory.available', { available: 1, capacity: 1000, atMs: 5 }]]);
  const thresholds = [threshold('memory.available', '100')];
  const first = judge(thresholds, observations, nothingSeen, 0, transitionMs);
  const second = judge(thresholds, observations, first.state, 10, transitionMs);
  assert.deepEqual([first.toReclaim.length, second.toReclaim.length, second.pressures], [1, 0, ['MemoryPressure']]);
});

test('memory comes before what fills slowly; what is not known is not short', () => {
  const thresholds = [threshold('nodefs.available', '100'), threshold('imagefs.available', '100'), threshold('memory.available', '100')];
  const low = { available: 1, capacity: 1000, atMs: 1 };
  const observations: Observations = new Map([
    ['nodefs.available', low],
    ['memory.available', low],
  ]);
  const { toReclaim, pressures } = judge(thresholds, observations, nothingSeen, 0, transitionMs);
  assert.deepEqual(
    [toReclaim.map(({ signal }) => signal), pressures],
    [
      ['memory.available', 'nodefs.available'],
      ['MemoryPressure', 'DiskPressure'],
    ],
  );
});
