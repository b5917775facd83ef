import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReadyLine } from './part.ts';
import { decodeReply, decodeRequest, encodeLine } from './protocol.ts';

test('a message that was encoded is decoded equal, in one line', () => {
  const request = {
    do: 'ensure',
    parts: [{ name: 'a', program: 'node', args: ['-e', 'a\nb'], stdoutFile: '/o', logFile: '/l', saysReady: true, longestPauseMs: 1 }],
  } as const;
  assert.ok(!encodeLine(request).includes('\n'));
  assert.deepEqual(decodeRequest(encodeLine(request)), request);
  assert.deepEqual(decodeReply(encodeLine({ kind: 'refused', why: 'x' })), { kind: 'refused', why: 'x' });
});

test('what is no message of the protocol is nothing', () => {
  for (const line of ['', 'x', '7', 'null', '[]', '{}', '{"do":"format"}', '{"kind":"other"}']) {
    assert.equal(decodeRequest(line), undefined, line);
    assert.equal(decodeReply(line), undefined, line);
  }
});

test('the line that a part is ready may stand among others, but not inside one', () => {
  assert.ok(isReadyLine('starting\n{"ready":true}\n'));
  assert.ok(!isReadyLine('{"ready":false}\n'));
  assert.ok(!isReadyLine('it will print {"ready":true} later\n'));
});
