import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagsPage, statusPage, zPageAnswer } from './zpages.ts';

const status = statusPage({ startedAtMs: 0, nowMs: 3_725_000, version: 'v1.36.0', paths: ['/pods', '/metrics'] });

function textOf(page: Parameters<typeof zPageAnswer>[0], accept?: string): string {
  const { body } = zPageAnswer(page, accept);
  return Buffer.from(body as Uint8Array).toString(); // these pages have no other bodies
}

test('people get lines', () => {
  assert.match(textOf(status), /^\nkubelet statusz\nWarning: .*\n\nStarted: Thu, 01 Jan 1970 00:00:00 GMT\nUp: 1 hr 02 min 05 sec\n/);
  assert.match(textOf(status, 'text/html, text/plain'), /\nEmulation version: 1\.36\nPaths: \/metrics \/pods\n$/);
  assert.match(textOf(flagsPage({ port: '10250', address: '0.0.0.0' })), /^\nkubelet flagz\nWarning: .*\n\naddress=0\.0\.0\.0\nport=10250\n$/);
});

test('programs get an object when they name its group, version and kind', () => {
  const of = (kind: string, version = 'v1alpha1') => `application/json;v=${version};g=config.k8s.io;as=${kind}`;
  const metadata = { name: 'kubelet' };
  assert.deepEqual(JSON.parse(textOf(flagsPage({ port: '10250' }), of('Flagz', 'v1beta1'))), {
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata,
    flags: { port: '10250' },
  });
  assert.deepEqual(JSON.parse(textOf(status, of('Statusz'))), {
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1alpha1',
    metadata,
    startTime: '1970-01-01T00:00:00Z',
    uptimeSeconds: 3725,
    binaryVersion: '1.36.0',
    emulationVersion: '1.36',
    paths: ['/metrics', '/pods'],
  });
  assert.equal(zPageAnswer(status, 'application/json').status, 406);
  assert.equal(zPageAnswer(status, of('Flagz')).status, 406);
});
