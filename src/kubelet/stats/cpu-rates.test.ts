import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuRates } from './cpu-rates.ts';

test('a rate is over the time between two readings', () => {
  const rates = new CpuRates();
  assert.equal(rates.of('a', 0, 1_000_000_000), undefined);
  assert.equal(rates.of('a', 2000, 2_000_000_000), 500_000_000);
  assert.equal(rates.of('b', 2000, 0), undefined);
});

test('readings that are too near keep the last rate and the older reading', () => {
  const rates = new CpuRates();
  rates.of('a', 0, 0);
  rates.of('a', 1000, 100);
  assert.equal(rates.of('a', 1010, 900), 100);
  assert.equal(rates.of('a', 3000, 4100), 2000);
});

test('a counter that began anew has no rate yet', () => {
  const rates = new CpuRates();
  rates.of('a', 0, 1000);
  assert.equal(rates.of('a', 2000, 10), undefined);
  assert.equal(rates.of('a', 4000, 30), 10);
  rates.keep(new Set());
  assert.equal(rates.of('a', 6000, 50), undefined);
});
