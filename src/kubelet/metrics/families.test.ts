import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { gauge, number } from './families.ts';

test('numbers are read when somebody looks, and what cannot be read takes nothing else with it', async () => {
  const registry = new Registry();
  let pods = ['a', 'b'];
  let seconds: number | undefined;
  gauge(registry, 'pods', 'Pods', ['name'], () => pods.map((name) => [{ name }, 1]));
  number(registry, 'seconds', 'Seconds', () => seconds);
  number(registry, 'broken', 'Broken', () => {
    throw new Error('no such thing');
  });
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(await lines(), ['pods{name="a"} 1', 'pods{name="b"} 1']);
  [pods, seconds] = [['b'], 3];
  assert.deepEqual(await lines(), ['pods{name="b"} 1', 'seconds 3']);
  seconds = undefined;
  assert.deepEqual(await lines(), ['pods{name="b"} 1']);
});
