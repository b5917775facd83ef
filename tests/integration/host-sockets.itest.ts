import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { LineConnection } from '#cluster/ports/sockets.ts';
import { createHostSockets } from '#os/linux/host-sockets.ts';

const folder = await mkdtemp(join(tmpdir(), 'host-sockets-'));
after(() => rm(folder, { recursive: true, force: true }));
const sockets = createHostSockets();

async function linesOf(connection: LineConnection): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of connection.lines(AbortSignal.timeout(10_000))) lines.push(line);
  return lines;
}

test('a client that goes away with unread answers resets the connection: its lines end, and the server lives', async () => {
  const path = join(folder, 'reset.sock');
  const served: Promise<readonly string[]>[] = [];
  let answered: () => void = () => undefined;
  const listener = await sockets.serve(path, (connection) => {
    connection.send('an answer that nobody reads');
    served.push(linesOf(connection));
    answered();
  });
  try {
    for (let client = 0; client < 5; client++) {
      const isAnswered = new Promise<void>((resolve) => {
        answered = resolve;
      });
      await goAwayUnread(path, isAnswered);
    }
    const connection = await sockets.connect(path);
    assert.ok(connection, 'the server still answers');
    connection.send('the last question');
    const answer = await firstLineOf(connection);
    assert.equal(answer, 'an answer that nobody reads');
    connection.close();
    const lines = await Promise.all(served);
    assert.deepEqual(lines.at(-1), ['the last question']);
    assert.equal(lines.length, 6);
  } finally {
    await listener.close();
  }
});

test('a server that ends in the middle ends the lines of its clients', async () => {
  const path = join(folder, 'gone.sock');
  const listener = await sockets.serve(path, (connection) => connection.send('hello'));
  const connection = await sockets.connect(path);
  assert.ok(connection);
  for (let line = 0; line < 1000; line++) connection.send('never read'.repeat(100));
  const lines = linesOf(connection);
  await listener.close();
  assert.deepEqual(await lines, ['hello']);
});

async function firstLineOf(connection: LineConnection): Promise<string | undefined> {
  for await (const line of connection.lines(AbortSignal.timeout(10_000))) return line;
  return undefined;
}

/** What a socket has not read when it is closed is a reset for the other side; one that is paused reads nothing. */
async function goAwayUnread(path: string, isAnswered: Promise<void>): Promise<void> {
  const socket = new Socket().pause();
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
  socket.connect(path, () => socket.write('a question\n'));
  await isAnswered;
  socket.destroy();
  await closed;
}
