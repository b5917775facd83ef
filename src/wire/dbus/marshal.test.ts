import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, encodeCall, messageLength } from './marshal.ts';

const call = { destination: 'org.example', path: '/a', interface: 'org.example.I', member: 'Do', args: ['one', 'zwei', -3] } as const;

test('a call is read as it was written', () => {
  const bytes = encodeCall(call, 7);
  assert.equal(messageLength(bytes), bytes.length);
  const { type, serial, path, interface: of, member, destination, body } = decodeMessage(bytes);
  assert.deepEqual(
    { type, serial, path, of, member, destination, body },
    { type: 'call', serial: 7, path: '/a', of: 'org.example.I', member: 'Do', destination: 'org.example', body: ['one', 'zwei', -3] },
  );
});

test('structs, lists, variants and long numbers are read as they were written, empty lists too', () => {
  const properties = [
    ['Description', { type: 's', value: 'pods' }],
    ['Wants', { type: 'as', value: ['a.slice', 'b.slice'] }],
    ['CPUAccounting', { type: 'b', value: true }],
    ['MemoryMax', { type: 't', value: 2n ** 64n - 1n }],
  ] as const;
  const args = ['a-b.slice', { type: 'a(sv)', value: properties }, { type: 'a(sa(sv))', value: [] }, { type: 't', value: 7n }] as const;
  const bytes = encodeCall({ ...call, args }, 7);
  assert.equal(messageLength(bytes), bytes.length);
  assert.deepEqual(decodeMessage(bytes).body, [
    'a-b.slice',
    [
      ['Description', 'pods'],
      ['Wants', ['a.slice', 'b.slice']],
      ['CPUAccounting', true],
      ['MemoryMax', 2n ** 64n - 1n],
    ],
    [],
    7n,
  ]);
});

test('how long a message is shows in its first sixteen bytes, and what is beyond all measure is refused', () => {
  const bytes = encodeCall(call, 7);
  assert.equal(messageLength(bytes.subarray(0, 15)), undefined);
  assert.equal(messageLength(bytes.subarray(0, 16)), bytes.length);
  const huge = Buffer.from(bytes);
  huge.writeUInt32LE(1 << 30, 4);
  assert.throws(() => messageLength(huge), /a message of \d+ bytes/);
});

// Recorded from Debian's dbus-daemon 1.14 with libdbus on the other side.
const delay =
  '6c02010110000000070000002d00000006017300040000003a312e31000000000501750004000000080167000176000007017300040000003a312e3000000000' +
  '0174000000000000404b4c0000000000';
const announcement =
  '6c04010104000000080000007d00000001016f00170000002f6f72672f667265656465736b746f702f6c6f67696e3100020173001e0000006f72672e66726565' +
  '6465736b746f702e6c6f67696e312e4d616e616765720000030173001200000050726570617265466f7253687574646f776e000000000000080167000162000007' +
  '017300040000003a312e300000000001000000';

test('an answer and an announcement as real programs write them', () => {
  const answer = decodeMessage(Buffer.from(delay, 'hex'));
  assert.deepEqual([answer.type, answer.replySerial, answer.body], ['reply', 4, [5_000_000n]]);
  const { type, path, member, body } = decodeMessage(Buffer.from(announcement, 'hex'));
  assert.deepEqual([type, path, member, body], ['signal', '/org/freedesktop/login1', 'PrepareForShutdown', [true]]);
});
