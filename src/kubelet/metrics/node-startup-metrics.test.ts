import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aNode } from '#api/testing/objects.ts';
import type { Node } from '#api/types/core-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { timeNodeStartup } from './node-startup-metrics.ts';

const startMs = Date.UTC(2026, 0, 1);

async function startedWith(createdAtMs: number): Promise<readonly string[]> {
  const registry = new Registry();
  const clock = new FakeClock(startMs + 2500);
  const node = new Cell<Node | undefined>(undefined);
  const startup = { hostBootedAtMs: startMs - 60_000, kubeletStartedAtMs: startMs, registeringAtMs: startMs + 2000 };
  timeNodeStartup(registry, startup, node, clock);
  const metadata = { creationTimestamp: new Date(createdAtMs).toISOString() };
  const withReady = (status: 'True' | 'False') => aNode({ metadata, status: { conditions: [{ type: 'Ready', status }] } });
  node.set(withReady('False'));
  await clock.advance(1500);
  node.set(withReady('True'));
  await clock.advance(1500);
  node.set(withReady('True'));
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet'));
}

test('the start of a new node is timed in its parts, once', async () => {
  assert.deepEqual(await startedWith(startMs + 2000), [
    'kubelet_node_startup_pre_kubelet_duration_seconds 60',
    'kubelet_node_startup_pre_registration_duration_seconds 2',
    'kubelet_node_startup_registration_duration_seconds 0.5',
    'kubelet_node_startup_post_registration_duration_seconds 1.5',
    'kubelet_node_startup_duration_seconds 64',
  ]);
});

test('a node that was there before has no start', async () => {
  assert.deepEqual(await startedWith(startMs - 5000), []);
});
