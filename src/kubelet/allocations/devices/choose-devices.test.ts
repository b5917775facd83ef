import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseDevices, type DeviceWish, settle } from './choose-devices.ts';

const resource = 'example.com/gadget';
const wish = (more: Partial<DeviceWish>): DeviceWish => ({
  resource,
  count: 1,
  healthy: new Set(['d0', 'd1', 'd2', 'd3']),
  own: undefined,
  reusable: new Set(),
  taken: new Set(),
  isNear: () => undefined,
  ...more,
});

test('what cannot be given is told in the known words', () => {
  const problem = (more: Partial<DeviceWish>) => chooseDevices(wish(more));
  assert.deepEqual(problem({ healthy: undefined }), { problem: `cannot allocate unregistered device ${resource}` });
  assert.deepEqual(problem({ healthy: new Set() }), { problem: `no healthy devices present; cannot allocate unhealthy devices ${resource}` });
  assert.deepEqual(problem({ own: new Set(['d9']) }), {
    problem: `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
  });
  assert.deepEqual(problem({ count: 3, taken: new Set(['d0', 'd1']) }), {
    problem: `requested number of devices unavailable for ${resource}. Requested: 3, Available: 2`,
  });
});

test('what it has it keeps, what ended init containers had comes first, near ones before far ones', () => {
  assert.deepEqual(chooseDevices(wish({ own: new Set(['d2']), taken: new Set(['d2']) })), { devices: ['d2'] });
  assert.deepEqual(chooseDevices(wish({ reusable: new Set(['d1', 'd3']), taken: new Set(['d1', 'd3']) })), { devices: ['d1'] });
  const near = { isNear: (id: string) => id === 'd2' || id === 'd3' };
  assert.deepEqual(chooseDevices(wish({ ...near, count: 2 })), { devices: ['d2', 'd3'] });
  const open = { sure: ['d2', 'd3'], groups: [['d0', 'd1'], []], count: 3, available: ['d2', 'd3', 'd0', 'd1'] };
  assert.deepEqual(chooseDevices(wish({ ...near, count: 3 })), open);
  assert.deepEqual(settle(open, ['d1']), ['d2', 'd3', 'd1']);
  assert.deepEqual(settle(open, ['d9']), ['d2', 'd3', 'd0']);
});

test('whatever the plugin prefers: as many as asked, each once, only free or reused ones', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const some = fc.subarray(ids);
  fc.assert(
    fc.property(some, some, some, some, fc.integer({ min: 1, max: 5 }), (healthy, taken, near, preferred, count) => {
      const choice = chooseDevices(wish({ count, healthy: new Set(healthy), taken: new Set(taken), isNear: (id) => near.includes(id) }));
      const free = healthy.filter((id) => !taken.includes(id));
      if ('problem' in choice) return free.length < count;
      const devices = 'groups' in choice ? settle(choice, preferred) : choice.devices;
      return devices.length === count && new Set(devices).size === count && devices.every((id) => free.includes(id));
    }),
  );
});
