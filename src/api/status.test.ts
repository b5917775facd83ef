import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duplicate, invalid as invalidField, notSupported, required } from './field-problem.ts';
import {
  accessDenied,
  alreadyExists,
  conflict,
  deleted,
  disruptionBudgetExceeded,
  expired,
  gone,
  invalid,
  methodNotAllowed,
  notFound,
  objectWasModified,
  resourceVersionTooLarge,
  serverTimeout,
  tooManyRequests,
} from './status.ts';

const pods = { group: '', plural: 'pods', kind: 'Pod' };
const deployments = { group: 'apps', plural: 'deployments', kind: 'Deployment' };

test('a missing object of the core group is named with its resource', () => {
  assert.deepEqual(notFound(pods, 'web').status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'pods "web" not found',
    reason: 'NotFound',
    details: { name: 'web', kind: 'pods' },
    code: 404,
  });
});

test('an object of a named group is told by resource and group', () => {
  const { status } = alreadyExists(deployments, 'd');
  assert.equal(status.message, 'deployments.apps "d" already exists');
  assert.deepEqual(status.details, { name: 'd', group: 'apps', kind: 'deployments' });
});

test('one problem stands bare, several in brackets, and each is a cause', () => {
  const one = invalid(pods, 'web', [required('spec.containers[0].image')]).status;
  assert.equal(one.message, 'Pod "web" is invalid: spec.containers[0].image: Required value');
  const two = invalid(deployments, 'd', [
    invalidField('spec.selector', { matchLabels: { a: 'b' } }, 'field is immutable'),
    notSupported('spec.type', 'x', ['a', 'b']),
    duplicate('spec.names[1]', 'n'),
  ]).status;
  assert.equal(
    two.message,
    'Deployment.apps "d" is invalid: [spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable, ' +
      'spec.type: Unsupported value: "x": supported values: "a", "b", spec.names[1]: Duplicate value: "n"]',
  );
  assert.deepEqual(two.details?.causes?.[1], {
    reason: 'FieldValueNotSupported',
    message: 'Unsupported value: "x": supported values: "a", "b"',
    field: 'spec.type',
  });
});

test('a problem that is found twice is told once', () => {
  const { status } = invalid(pods, 'web', [required('spec.a'), required('spec.a')]);
  assert.equal(status.message, 'Pod "web" is invalid: spec.a: Required value');
  assert.equal(status.details?.causes?.length, 2);
});

test('a refused request says who may not do what where', () => {
  const resource = { ...pods, subresource: 'exec', namespace: 'default', name: '' };
  assert.equal(
    accessDenied({ user: 'system:anonymous', verb: 'list', resource: { ...resource, subresource: '' }, path: '', reason: '' }).message,
    'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
  );
  assert.equal(
    accessDenied({ user: 'a<b', verb: 'create', resource: { ...resource, namespace: undefined, name: 'web' }, path: '', reason: 'no' }).message,
    'pods "web" is forbidden: User "a&lt;b" cannot create resource "pods/exec" in API group "" at the cluster scope: no',
  );
  assert.equal(accessDenied({ user: 'u', verb: 'get', path: '/metrics', reason: '' }).message, 'forbidden: User "u" cannot get path "/metrics"');
});

test('a stale write, an old list and a future read have the texts that clients look for', () => {
  assert.equal(
    conflict(pods, 'web', objectWasModified).message,
    'Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again',
  );
  assert.deepEqual(expired('old', 'token').status.metadata, { continue: 'token' });
  assert.equal(resourceVersionTooLarge(9n, 7n).status.details?.retryAfterSeconds, 1);
  assert.equal(resourceVersionTooLarge(9n, 7n).message, 'Timeout: Too large resource version: 9, current: 7');
});

test('a delete that is done names what is gone', () => {
  assert.deepEqual(deleted(deployments, 'd', 'u1'), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'd', group: 'apps', kind: 'deployments', uid: 'u1' },
  });
});

for (const [error, code, reason, message] of [
  [methodNotAllowed(deployments, 'patch'), 405, 'MethodNotAllowed', 'patch is not supported on resources of kind "deployments.apps"'],
  [gone('no more'), 410, 'Gone', 'no more'],
  [tooManyRequests('wait', 3), 429, 'TooManyRequests', 'wait'],
  [disruptionBudgetExceeded('why', 10), 429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget."],
  [
    serverTimeout(pods, 'create', 1),
    500,
    'ServerTimeout',
    'The create operation against pods could not be completed at this time, please try again.',
  ],
] as const) {
  test(`${reason} is answered with ${code} and its text`, () => {
    assert.deepEqual([error.status.code, error.status.reason, error.message], [code, reason, message]);
    assert.equal(error.retry, code >= 429 ? 'backoff' : 'never');
  });
}
