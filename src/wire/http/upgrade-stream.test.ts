import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { join } from './upgrade-stream.ts';

/** One end of a connection; what is written to it waits until `release` is called. */
function slowSide() {
  const written: string[] = [];
  let release: () => void = () => undefined;
  const side = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      release = () => {
        written.push(chunk.toString());
        done();
      };
    },
  });
  return { side, written, release: () => release() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

for (const broken of [false, true]) {
  test(`the client gets the last words of a backend that ${broken ? 'resets the connection' : 'ends'}`, async () => {
    const [client, backend] = [slowSide(), slowSide()];
    const clock = new FakeClock(0);
    const ends = {
      client: { socket: client.side, head: new Uint8Array() },
      backend: { upgraded: true as const, socket: backend.side, head: new Uint8Array() },
    };
    const joined = join(ends.client, ends.backend, clock, new AbortController().signal);
    backend.side.push('last words');
    await turn();
    if (broken) backend.side.destroy(new Error('ECONNRESET'));
    else backend.side.push(null);
    await turn();
    assert.equal(client.side.destroyed, false);
    client.release();
    await joined;
    assert.deepEqual(client.written, ['last words']);
    assert.deepEqual([client.side.destroyed, backend.side.destroyed, clock.waiting], [true, true, 0]);
  });
}

test('a client that never reads holds the last words for ten seconds at the most', async () => {
  const [client, backend] = [slowSide(), slowSide()];
  const clock = new FakeClock(0);
  const joined = join(
    { socket: client.side, head: new Uint8Array() },
    { upgraded: true, socket: backend.side, head: new Uint8Array() },
    clock,
    new AbortController().signal,
  );
  backend.side.push('last words');
  await turn();
  backend.side.destroy(new Error('ECONNRESET'));
  await turn();
  await clock.advance(9_999);
  assert.equal(client.side.destroyed, false);
  await clock.advance(1);
  await joined;
  assert.deepEqual(client.written, []);
});

test('an exchange ends when nothing was sent for its idle time, whichever side sent last', async () => {
  const [client, backend] = [slowSide(), slowSide()];
  const clock = new FakeClock(0);
  let isOver = false;
  const joined = join(
    { socket: client.side, head: new Uint8Array() },
    { upgraded: true, socket: backend.side, head: new Uint8Array() },
    clock,
    new AbortController().signal,
    60_000,
  ).then(() => {
    isOver = true;
  });
  await clock.advance(50_000);
  client.side.push('typed');
  await turn();
  backend.release();
  await clock.advance(50_000);
  backend.side.push('shown');
  await turn();
  client.release();
  await clock.advance(59_999);
  await turn();
  assert.deepEqual([isOver, client.side.destroyed], [false, false]);
  await clock.advance(1);
  await joined;
  assert.deepEqual([backend.written, client.written, clock.waiting], [['typed'], ['shown'], 0]);
});
