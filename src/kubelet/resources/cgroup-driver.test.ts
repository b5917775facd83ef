import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { RuntimeUnreachable, Unsupported } from '#wire/cri/errors.ts';
import { chooseCgroupDriver } from './cgroup-driver.ts';

const { signal } = new AbortController();
const answering = (answer: () => 'cgroupfs' | 'systemd' | undefined) => ({ cgroupDriver: async () => answer() });
const failing = (error: Error) =>
  answering(() => {
    throw error;
  });

test('the runtime decides, and the configuration where it has no opinion', async () => {
  const clock = new FakeClock();
  assert.equal(
    await chooseCgroupDriver(
      answering(() => 'systemd'),
      'cgroupfs',
      clock,
      signal,
    ),
    'systemd',
  );
  assert.equal(
    await chooseCgroupDriver(
      answering(() => undefined),
      'systemd',
      clock,
      signal,
    ),
    'systemd',
  );
});

test('subtle 68: a runtime without RuntimeConfig leaves it to the configuration, at once and without an error', async () => {
  const unsupported = new Unsupported({ message: 'x' });
  assert.equal(await chooseCgroupDriver(failing(unsupported), 'systemd', new FakeClock(), signal), 'systemd');
});

test('a runtime that does not answer is asked three times', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const unreachable = answering(() => {
    asked += 1;
    throw new RuntimeUnreachable({ message: 'gone' });
  });
  const choosing = assert.rejects(chooseCgroupDriver(unreachable, 'cgroupfs', clock, signal), RuntimeUnreachable);
  for (let turn = 0; turn < 3; turn += 1) await clock.advance(2000);
  await choosing;
  assert.equal(asked, 3);
});
