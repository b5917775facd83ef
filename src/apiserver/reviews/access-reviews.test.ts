import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

const reviews = '/apis/authorization.k8s.io/v1';
const scheduler = { user: 'system:kube-scheduler', groups: ['system:authenticated'] };
const listPods = { verb: 'list', resource: 'pods' };

test('a review tells whether somebody may do something, and why', async () => {
  await using api = await inProcessServer();
  const ask = async (spec: object) => (await api.call('POST', `${reviews}/subjectaccessreviews`, { body: { spec } })).body.status;
  assert.deepEqual(await ask({ ...scheduler, resourceAttributes: listPods }), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "system:kube-scheduler" of ClusterRole "system:kube-scheduler" to User "system:kube-scheduler"',
  });
  assert.deepEqual(await ask({ user: 'jane', resourceAttributes: listPods }), { allowed: false });
  assert.deepEqual(await ask({ user: 'jane', groups: ['system:masters'], resourceAttributes: listPods }), { allowed: true });
  assert.equal(
    (await ask({ user: 'jane', groups: ['system:authenticated'], nonResourceAttributes: { verb: 'get', path: '/apis/apps' } })).allowed,
    true,
  );
  assert.equal((await ask({ user: 'jane', nonResourceAttributes: { verb: 'get', path: '/apis/apps' } })).allowed, false);
});

test('a review whose question is none is refused', async () => {
  await using api = await inProcessServer();
  const refused = async (body: object) => {
    const { status, body: answer } = await api.call('POST', `${reviews}/subjectaccessreviews`, { body });
    return [status, answer.message];
  };
  const head = 'SubjectAccessReview.authorization.k8s.io "" is invalid: ';
  assert.deepEqual(await refused({ spec: { user: 'jane' } }), [
    422,
    `${head}spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
  ]);
  assert.deepEqual(await refused({ spec: { resourceAttributes: listPods, nonResourceAttributes: { verb: 'get', path: '/' } } }), [
    422,
    `${head}[spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes, ` +
      'spec.user: Invalid value: "": at least one of user or group must be specified]',
  ]);
  assert.deepEqual(await refused({ metadata: { name: 'a' }, spec: { user: 'jane', resourceAttributes: listPods } }), [
    422,
    `${head}metadata: Invalid value: {"name":"a"}: must be empty`,
  ]);
});

test('a review in a namespace is about what is in it', async () => {
  await using api = await inProcessServer();
  const ask = async (spec: object) => await api.call('POST', `${reviews}/namespaces/default/localsubjectaccessreviews`, { body: { spec } });
  assert.equal((await ask({ ...scheduler, resourceAttributes: { ...listPods, namespace: 'default' } })).body.status.allowed, true);
  assert.equal(
    (await ask({ ...scheduler, resourceAttributes: { ...listPods, namespace: 'other' } })).body.message,
    'LocalSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  );
});

test('a selector that cannot be read is told and ignored', async () => {
  await using api = await inProcessServer();
  const ask = async (more: object) =>
    (await api.call('POST', `${reviews}/subjectaccessreviews`, { body: { spec: { ...scheduler, resourceAttributes: { ...listPods, ...more } } } }))
      .body;
  const field = 'spec.resourceAttributes.fieldSelector';
  assert.equal((await ask({ fieldSelector: { rawSelector: 'spec.nodeName=n1' } })).status.evaluationError, undefined);
  assert.equal((await ask({ fieldSelector: { rawSelector: 'a' } })).status.evaluationError, `${field} ignored due to parse error`);
  const requirements = [
    { key: 'spec.nodeName', operator: 'In', values: ['n1'] },
    { key: 'metadata.name', operator: 'Near' },
  ];
  assert.equal((await ask({ fieldSelector: { requirements } })).status.evaluationError, `${field} partially ignored due to parse error`);
  assert.equal(
    (await ask({ labelSelector: { requirements: [{ key: 'a', operator: 'Near' }] } })).status.evaluationError,
    'spec.resourceAttributes.labelSelector ignored due to parse error',
  );
  assert.match(
    (await ask({ fieldSelector: {} })).message,
    /fieldSelector\.requirements: Required value: when spec\.resourceAttributes\.fieldSelector is/,
  );
});

test('a node is judged by its selector', async () => {
  await using api = await inProcessServer();
  const may = async (rawSelector: string) => {
    const resourceAttributes = { ...listPods, fieldSelector: { rawSelector } };
    const spec = { user: 'system:node:n1', groups: ['system:nodes'], resourceAttributes };
    return (await api.call('POST', `${reviews}/subjectaccessreviews`, { body: { spec } })).body.status;
  };
  assert.equal((await may('spec.nodeName=n1')).allowed, true);
  assert.deepEqual(await may('spec.nodeName=n2'), { allowed: false, reason: 'can only list/watch pods with spec.nodeName field selector' });
});

test('a user lists its rules in a namespace', async () => {
  await using api = await inProcessServer();
  const list = async (as: { readonly name: string; readonly groups?: string[] }, namespace: string) =>
    (await api.call('POST', `${reviews}/selfsubjectrulesreviews`, { body: { spec: { namespace } }, as })).body;
  const { status } = await list({ name: 'jane' }, 'default');
  assert.deepEqual([status.incomplete, status.evaluationError], [false, undefined]);
  assert.deepEqual(status.resourceRules, [
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ]);
  assert.equal((await list({ name: 'system:node:n1', groups: ['system:nodes'] }, 'default')).status.incomplete, true);
  assert.equal((await list({ name: 'jane' }, '')).message, 'no namespace on request');
});
