import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedTimestamp, parseCriLogLine } from './cri-log-line.ts';

const parse = (text: string): unknown => {
  const line = parseCriLogLine(Buffer.from(text));
  return line === undefined ? undefined : { ...line, content: Buffer.from(line.content).toString() };
};

test('a whole line and a partial one are told apart', () => {
  const timestamp = '2026-12-02T03:00:00.123456789Z';
  assert.deepEqual(parse(`${timestamp} stdout F hello  world `), { timestamp, stream: 'stdout', isPartial: false, content: 'hello  world ' });
  assert.deepEqual(parse(`${timestamp} stderr P:other half`), { timestamp, stream: 'stderr', isPartial: true, content: 'half' });
});

test('an empty line of the program has no content', () => {
  const timestamp = '2026-12-02T03:00:00+02:00';
  const line = { timestamp, stream: 'stdout', isPartial: false, content: '' };
  assert.deepEqual(parse(`${timestamp} stdout F `), line);
  assert.deepEqual(parse(`${timestamp} stdout F`), line);
});

for (const text of ['', 'hello', '2026-12-02T03:00:00Z stdlog F x', 'yesterday stdout F x', '2026-12-02T03:00:00Z stdout']) {
  test(`${JSON.stringify(text)} is no line of a log`, () => assert.equal(parse(text), undefined));
}

test('a timestamp is shown with nine digits, and UTC as Z', () => {
  assert.equal(fixedTimestamp('2026-12-02T03:00:00.12Z'), '2026-12-02T03:00:00.120000000Z');
  assert.equal(fixedTimestamp('2026-12-02T03:00:00+00:00'), '2026-12-02T03:00:00.000000000Z');
  assert.equal(fixedTimestamp('2026-12-02T03:00:00.123456789-08:00'), '2026-12-02T03:00:00.123456789-08:00');
});
