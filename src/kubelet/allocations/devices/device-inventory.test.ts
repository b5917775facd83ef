import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { Device } from '#wire/generated/device-plugin.ts';
import { DeviceInventory, pluginGraceMs, type ResourcePlugin } from './device-inventory.ts';

const resource = 'example.com/gadget';
const device = (ID: string, health = 'Healthy'): Device => ({ ID, health, topology: undefined });
const never = () => assert.fail('nobody asks the plugin');

function aPlugin(): ResourcePlugin {
  return {
    connection: { options: never, devices: never, preferred: never, allocate: never, preStart: never, close: () => undefined },
    options: { preStartRequired: false, getPreferredAllocationAvailable: false },
  };
}

function anInventory() {
  const clock = new FakeClock();
  const changes: string[] = [];
  const inventory = new DeviceInventory(clock, (_resource, devices) => void changes.push(devices.join(' ')));
  return { clock, changes, inventory };
}

test('what a plugin tells is what the node has, and only what changed is told of', () => {
  const { inventory, changes } = anInventory();
  const plugin = aPlugin();
  inventory.connect(resource, plugin);
  inventory.tell(resource, plugin, [device('a'), device('b', 'Unhealthy')]);
  assert.deepEqual(inventory.amounts(), { [resource]: { capacity: 2, allocatable: 1 } });
  inventory.tell(resource, plugin, [device('a'), device('b')]);
  assert.deepEqual(changes, ['a b', 'b']);
});

test('devices of a plugin that is gone are unhealthy at once, and after five minutes there are none', async () => {
  const { inventory, clock } = anInventory();
  const plugin = aPlugin();
  inventory.connect(resource, plugin);
  inventory.tell(resource, plugin, [device('a')]);
  inventory.lose(resource, plugin);
  assert.deepEqual(inventory.amounts(), { [resource]: { capacity: 1, allocatable: 0 } });
  await clock.advance(pluginGraceMs - 1);
  assert.deepEqual(inventory.healthy(resource), new Set());
  await clock.advance(1);
  assert.deepEqual([inventory.healthy(resource), inventory.amounts()], [undefined, { [resource]: { capacity: 0, allocatable: 0 } }]);
});

test('a plugin that is back in time keeps its resource, and the old one has nothing more to say', async () => {
  const { inventory, clock } = anInventory();
  inventory.expect([resource]);
  assert.deepEqual(inventory.amounts(), { [resource]: { capacity: 0, allocatable: 0 } });
  const [old, next] = [aPlugin(), aPlugin()];
  inventory.connect(resource, old);
  inventory.connect(resource, next);
  inventory.tell(resource, next, [device('a')]);
  inventory.tell(resource, old, []);
  inventory.lose(resource, old);
  await clock.advance(2 * pluginGraceMs);
  assert.deepEqual(inventory.amounts(), { [resource]: { capacity: 1, allocatable: 1 } });
});
