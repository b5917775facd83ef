import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextRefreshMs, planVolumes, type VolumeState } from './plan.ts';

const fresh = { isStale: false, refreshAtMs: undefined };
const volumes = ['new', 'fresh', 'stale', 'due', 'young'].map((name) => ({ name }));

test('what is missing is set up, what is stale or due is renewed, the rest is left alone', () => {
  const present = new Map<string, VolumeState>([
    ['fresh', fresh],
    ['stale', { ...fresh, isStale: true }],
    ['due', { ...fresh, refreshAtMs: 1000 }],
    ['young', { ...fresh, refreshAtMs: 1001 }],
    ['nobody wants it', { ...fresh, isStale: true }],
  ]);
  const actions = planVolumes(volumes, present, 1000).map(({ kind, volume }) => `${kind} ${volume.name}`);
  assert.deepEqual(actions, ['set-up new', 'refresh stale', 'refresh due']);
});

test('the next renewal is the earliest', () => {
  assert.equal(nextRefreshMs([fresh, { ...fresh, refreshAtMs: 7 }, { ...fresh, refreshAtMs: 3 }]), 3);
  assert.equal(nextRefreshMs([fresh]), undefined);
});
