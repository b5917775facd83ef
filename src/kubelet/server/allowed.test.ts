import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalOf, type ServerSwitches } from './allowed.ts';
import type { KubeletRoute } from './kubelet-route.ts';

const all: ServerSwitches = { debugging: true, profiling: true, debugFlags: true, systemLogs: true };

function told(kind: KubeletRoute['kind'], method: string, change: Partial<ServerSwitches> = {}): unknown {
  const answer = refusalOf(kind, method, { ...all, ...change });
  if (answer === undefined) return 'served';
  if (!(answer.body instanceof Uint8Array)) assert.fail('refusals are short');
  return [answer.status, Buffer.from(answer.body).toString(), answer.headers['allow']];
}

test('a wrong method is told which ones are right', () => {
  assert.deepEqual(told('pods', 'POST'), [405, '405: Method Not Allowed', 'GET']);
  assert.deepEqual(told('exec', 'PUT'), [405, '405: Method Not Allowed', 'GET, POST']);
  assert.deepEqual(told('run', 'GET'), [405, '405: Method Not Allowed', 'POST']);
  assert.equal(told('healthz', 'DELETE'), 'served');
  assert.equal(told('summary', 'POST'), 'served');
});

test('without debugging handlers nobody gets into containers, and pages about the kubelet are not there', () => {
  const off = { debugging: false };
  for (const kind of ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'profiling', 'logs'] as const)
    assert.deepEqual(told(kind, 'GET', off), [405, 'Debug endpoints are disabled.\n', undefined], kind);
  for (const kind of ['configz', 'checkpoint', 'statusz', 'flagz', 'verbosity'] as const)
    assert.deepEqual(told(kind, 'GET', off), [404, '404: Page Not Found', undefined], kind);
  for (const kind of ['pods', 'healthz', 'summary', 'metrics'] as const) assert.equal(told(kind, 'GET', off), 'served', kind);
});

test('each switch turns off its own page', () => {
  assert.deepEqual(told('logs', 'GET', { systemLogs: false }), [405, 'logs endpoint is disabled.\n', undefined]);
  assert.deepEqual(told('profiling', 'GET', { profiling: false }), [405, 'profiling endpoint is disabled.\n', undefined]);
  assert.deepEqual(told('verbosity', 'PUT', { debugFlags: false }), [405, 'flags endpoint is disabled.\n', undefined]);
});
