import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { runProgram } from '#testing/run-program.ts';
import { type DBusValue, decodeMessage, messageLength } from '#wire/dbus/marshal.ts';
import { createSystemd } from '#wire/dbus/systemd.ts';

// What systemd is asked over its socket, with somebody else at the other end: a host's own units are no place for tests. `npm run
// test:cgroup2` has the real one.

const { signal } = new AbortController();
const asked: (readonly [member: string | undefined, body: readonly DBusValue[]])[] = [];
/** What is answered with an error, by the call and its first argument. */
const errors = new Map<string, string>();
let dir = '';
let server: Server;
const socket = () => join(dir, 'private');

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kubernode-systemd-'));
  server = createServer((peer) => {
    let received = Buffer.alloc(0);
    let isGreeting = true;
    peer.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (isGreeting && received.includes('AUTH')) {
        received = received.subarray(received.indexOf('\r\n') + 2);
        isGreeting = false;
        peer.write('OK 0123456789abcdef0123456789abcdef\r\n');
      }
      if (received.subarray(0, 7).toString() === 'BEGIN\r\n') received = received.subarray(7);
      for (let length = messageLength(received); length !== undefined && received.length >= length; length = messageLength(received)) {
        const { serial, member, body } = decodeMessage(received.subarray(0, length));
        received = received.subarray(length);
        asked.push([member, body]);
        setTimeout(() => peer.write(answer(serial, errors.get(`${member} ${body[0]}`))), 100);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socket(), resolve));
});
after(async () => {
  server.close();
  await rm(dir, { recursive: true });
});

/** Without a body. */
function answer(serial: number, error: string | undefined): Buffer {
  const word = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const replySerial = Buffer.concat([Buffer.from([5, 1, 0x75, 0]), word(serial)]);
  const name = error === undefined ? Buffer.alloc(0) : Buffer.concat([Buffer.from([4, 1, 0x73, 0]), word(error.length), Buffer.from(`${error}\0`)]);
  const fields = Buffer.concat([replySerial, name]);
  const head = Buffer.concat([Buffer.from([0x6c, error === undefined ? 2 : 3, 1, 1]), word(0), word(1), word(fields.length), fields]);
  return Buffer.concat([head, Buffer.alloc((8 - (head.length % 8)) % 8)]);
}

const manager = () => createSystemd({ clock: systemClock, socket: socket() });

test('a slice is started with its limits; one that is there is changed; stopping what is gone is no error', async () => {
  const systemd = manager();
  assert.equal(await systemd.isThere(), true);
  await systemd.ensure('a-b.slice', { MemoryMax: 64n }, signal);
  errors.set('StartTransientUnit a.slice', 'org.freedesktop.systemd1.UnitExists');
  await systemd.ensure('a.slice', { CPUWeight: 39n }, signal);
  errors.set('StopUnit a.slice', 'org.freedesktop.systemd1.NoSuchUnit');
  await systemd.stop('a.slice', signal);
  errors.set('StopUnit a.slice', 'org.freedesktop.DBus.Error.AccessDenied');
  await assert.rejects(systemd.stop('a.slice', signal), { code: 'DBUS_FAILED', message: /AccessDenied/ });
  await systemd.close();
  const common = [
    ['DefaultDependencies', false],
    ['CPUAccounting', true],
    ['MemoryAccounting', true],
    ['TasksAccounting', true],
  ];
  const described = ['Description', 'pods of kubernode'];
  assert.deepEqual(asked.splice(0), [
    ['StartTransientUnit', ['a-b.slice', 'replace', [described, ['Wants', ['a.slice']], ...common, ['MemoryMax', 64n]], []]],
    ['StartTransientUnit', ['a.slice', 'replace', [described, ...common, ['CPUWeight', 39n]], []]],
    ['SetUnitProperties', ['a.slice', true, [['CPUWeight', 39n]]]],
    ['StopUnit', ['a.slice', 'replace']],
    ['StopUnit', ['a.slice', 'replace']],
  ]);
});

test('a process that waits for nothing but the answer lives until it comes', async () => {
  const module = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../src/${name}`, import.meta.url)));
  const script = `
    import { systemClock } from ${module('base/clock.ts')};
    import { createSystemd } from ${module('wire/dbus/systemd.ts')};
    await createSystemd({ clock: systemClock, socket: ${JSON.stringify(socket())} }).stop('b.slice', new AbortController().signal);
    console.log('stopped');`;
  const { code, stdout, stderr } = await runProgram([process.execPath, '--import', 'tsx', '--input-type=module', '-e', script], 30_000);
  assert.deepEqual([code, stdout.trim()], [0, 'stopped'], stderr);
});

test('without systemd nobody is asked', async () => {
  assert.equal(await createSystemd({ clock: systemClock, socket: join(dir, 'nobody') }).isThere(), false);
});
