import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Unavailable } from '#base/errors.ts';
import { type Logger, silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { doChores } from './chores.ts';

test('each chore is done at once and then at its own pace; one that fails or hangs does not hold up the others', async () => {
  const clock = new FakeClock();
  const done: string[] = [];
  const warnings: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (message, fields) => void warnings.push([message, fields]) };
  const abort = new AbortController();
  const chore = (name: string, everyMs: number, run: () => Promise<void> = async () => undefined) => ({
    name,
    everyMs,
    run: async () => {
      done.push(`${name}@${clock.now() - startedAtMs}`);
      await run();
    },
  });
  const startedAtMs = clock.now();
  const ended = doChores(
    [
      chore('often', 1000),
      chore('fails', 2000, async () => {
        throw new Unavailable({ message: 'away' });
      }),
      chore('hangs', 1000, () => new Promise(() => undefined)),
    ],
    clock,
    logger,
    abort.signal,
  );
  for (let second = 0; second < 3; second += 1) {
    await nextTurn();
    await clock.advance(1000);
  }
  await nextTurn();
  assert.deepEqual(done.sort(), ['fails@0', 'fails@2000', 'hangs@0', 'often@0', 'often@1000', 'often@2000', 'often@3000']);
  assert.deepEqual(warnings[0], ['a chore failed', { chore: 'fails', error: 'away' }]);
  await clock.advance(597_000);
  await nextTurn();
  const ofHanging = warnings.filter((warning) => JSON.stringify(warning).includes('hangs'));
  assert.deepEqual(ofHanging, [['a chore failed', { chore: 'hangs', error: 'hangs took longer than 600000 ms' }]]);
  abort.abort();
  await ended;
});
