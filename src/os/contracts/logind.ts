import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import type { LogindPort } from '#kubelet/ports/logind.ts';

export interface LogindUnderTest {
  readonly logind: LogindPort;
  /** Shutdowns are held up for so long at most, before and after a reload. */
  readonly delaysMs: readonly [number, number];
  /** Locks that hold up shutdowns now; settled when there are so many. */
  untilLocks(count: number): Promise<void>;
  announce(isShuttingDown: boolean): Promise<void>;
  /** From then on nobody answers. */
  end(): Promise<void>;
}

/** What everybody who implements `LogindPort` must do. */
export function logindContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<LogindUnderTest>): void {
  const { signal } = new AbortController();

  test(`${name}: a lock holds until it is given up, and that may be done twice`, async (t) => {
    const { logind, untilLocks } = await open(t);
    const session = await logind.connect(signal);
    const [first, second] = [await session.inhibit(signal), await session.inhibit(signal)];
    await untilLocks(2);
    first();
    first();
    await untilLocks(1);
    session.close();
    await untilLocks(1);
    second();
    await untilLocks(0);
  });

  test(`${name}: the longest delay is what the configuration says when it was read last`, async (t) => {
    const { logind, delaysMs } = await open(t);
    const session = await logind.connect(signal);
    assert.equal(await session.inhibitDelayMs(signal), delaysMs[0]);
    await session.reload(signal);
    assert.equal(await session.inhibitDelayMs(signal), delaysMs[1]);
    session.close();
  });

  test(`${name}: what was announced since the connection was made is heard in order, until the connection ends`, async (t) => {
    const { logind, announce, end } = await open(t);
    const session = await logind.connect(signal);
    await announce(true);
    await announce(false);
    const heard: boolean[] = [];
    for await (const one of session.announcements(signal)) {
      heard.push(one);
      if (heard.length === 2) await end();
    }
    assert.deepEqual(heard, [true, false]);
    await assert.rejects(logind.connect(signal), Unavailable);
  });
}
