import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeletRoute } from './kubelet-route.ts';

const target = { namespace: 'ns', pod: 'p', uid: undefined };

for (const [path, route] of [
  ['/healthz', { kind: 'healthz', check: '' }],
  ['/healthz/ping', { kind: 'healthz', check: 'ping' }],
  ['/healthz/a/b', { kind: 'unknown' }],
  ['/runningpods/', { kind: 'runningpods' }],
  ['/stats/summary', { kind: 'summary' }],
  ['/stats', { kind: 'unknown' }],
  ['/metrics/cadvisor', { kind: 'metrics' }],
  ['/logs/', { kind: 'logs', path: '' }],
  ['/logs/pods/a%2Fb/', { kind: 'logs', path: 'pods/a/b' }],
  ['/debug/pprof/heap', { kind: 'profiling', name: 'heap' }],
  ['/debug/pprof/', { kind: 'profiling', name: '' }],
  ['/debug/flags/v', { kind: 'verbosity' }],
  ['/checkpoint/ns/p/c', { kind: 'checkpoint', ...target, container: 'c' }],
  ['/checkpoint/ns/p', { kind: 'unknown' }],
  ['/flagz', { kind: 'flagz' }],
  ['/pods/', { kind: 'pods' }],
  ['/pods/x', { kind: 'unknown' }],
  ['/containerLogs/ns/p/c', { kind: 'containerLogs', ...target, container: 'c' }],
  ['/containerLogs/ns/p', { kind: 'containerLogs', ...target, container: '' }],
  ['/exec/ns/p/c', { kind: 'exec', ...target, container: 'c' }],
  ['/exec/ns/p/u/c', { kind: 'exec', ...target, uid: 'u', container: 'c' }],
  ['/exec/ns/p', { kind: 'unknown' }],
  ['/attach/ns/p/c%2Fd', { kind: 'attach', ...target, container: 'c/d' }],
  ['/portForward/ns/p', { kind: 'portForward', ...target }],
  ['/portForward/ns/p/u', { kind: 'portForward', ...target, uid: 'u' }],
  ['/portForward/ns', { kind: 'unknown' }],
  ['/exec/ns/%zz/c', { kind: 'unknown' }],
  ['/', { kind: 'unknown' }],
] as const) {
  test(`${path} is ${route.kind}`, () => assert.deepEqual(kubeletRoute(path), route));
}
