import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { Unavailable } from '#base/errors.ts';
import { logindContract } from '#os/contracts/logind.ts';
import { createLogind } from '#wire/dbus/logind.ts';
import { startLogind } from '../support/logind.ts';

const delaysMs = [5000, 60_000] as const;
const { signal } = new AbortController();

logindContract('logind over a bus', async (t) => {
  const real = await startLogind(delaysMs);
  let isUp = true;
  const end = async () => {
    if (isUp) await real.stop();
    isUp = false;
  };
  t.after(end);
  return { logind: createLogind({ address: real.address, clock: systemClock }), delaysMs, untilLocks: real.untilLocks, announce: real.announce, end };
});

test('a host without a bus is told by name', async () => {
  const logind = createLogind({ address: 'unix:path=/run/kubernode-no-bus', clock: systemClock });
  await assert.rejects(
    logind.connect(signal),
    (error) => error instanceof Unavailable && /^the bus at \/run\/kubernode-no-bus: /.test(error.message),
  );
});
