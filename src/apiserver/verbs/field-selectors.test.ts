import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

/** What each kind can be selected by, beyond its name and namespace. */
const selectable: readonly (readonly [url: string, fields: readonly string[]])[] = [
  [
    '/api/v1/pods',
    [
      'spec.nodeName',
      'spec.host',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
    ],
  ],
  ['/api/v1/nodes', ['spec.unschedulable']],
  ['/api/v1/namespaces', ['status.phase']],
  ['/api/v1/secrets', ['type']],
  ['/api/v1/services', ['spec.clusterIP', 'spec.type']],
  ['/api/v1/replicationcontrollers', ['status.replicas']],
  [
    '/api/v1/events',
    [
      ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => `involvedObject.${field}`),
      ...['reason', 'reportingComponent', 'source', 'type'],
    ],
  ],
  [
    '/apis/events.k8s.io/v1/events',
    [
      ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => `regarding.${field}`),
      ...['reason', 'reportingController', 'type'],
    ],
  ],
  ['/apis/batch/v1/jobs', ['status.successful']],
  ['/apis/certificates.k8s.io/v1/certificatesigningrequests', ['spec.signerName']],
];

for (const [url, fields] of selectable) {
  test(`${url} can be selected by ${fields.join(', ')}`, async () => {
    await using api = await inProcessServer();
    for (const field of ['metadata.name', ...fields]) {
      const { status, body } = await api.call('GET', `${url}?fieldSelector=${field}%3Dx`);
      assert.deepEqual([field, status, body.message], [field, 200, undefined]);
    }
  });
}

const refused: readonly (readonly [url: string, field: string, message: string])[] = [
  ['/api/v1/pods', 'spec.image', 'field label not supported: spec.image'],
  ['/api/v1/nodes', 'metadata.namespace', 'field label not supported: metadata.namespace'],
  ['/api/v1/namespaces', 'metadata.namespace', 'field label not supported: metadata.namespace'],
  ['/apis/certificates.k8s.io/v1/certificatesigningrequests', 'metadata.namespace', 'field label not supported: metadata.namespace'],
  ['/apis/batch/v1/jobs', 'status.failed', 'field label "status.failed" not supported for Job'],
  ['/apis/apps/v1/replicasets', 'status.replicas', '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['/apis/apps/v1/deployments', 'spec.x', '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['/api/v1/configmaps', 'data', '"data" is not a known field selector: only "metadata.name", "metadata.namespace"'],
];
for (const [url, field, message] of refused) {
  test(`${url} cannot be selected by ${field}`, async () => {
    await using api = await inProcessServer();
    const { status, body } = await api.call('GET', `${url}?fieldSelector=${field}%3Dx`);
    assert.deepEqual([status, body.reason, body.message], [400, 'BadRequest', message]);
  });
}

test('values are escaped, terms are joined by commas, and what cannot be read is named', async () => {
  await using api = await inProcessServer();
  const secrets = '/api/v1/namespaces/default/secrets';
  for (const [name, type] of [
    ['a', 'x,y'],
    ['b', 'x=y'],
    ['c', 'x'],
  ]) {
    await api.call('POST', secrets, { body: { metadata: { name }, type } });
  }
  const found = async (selector: string): Promise<unknown> => {
    const { status, body } = await api.call('GET', `${secrets}?fieldSelector=${encodeURIComponent(selector)}`);
    return status === 200 ? body.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name) : body.message;
  };
  assert.deepEqual(await found('type=x\\,y'), ['a']);
  assert.deepEqual(await found('type==x\\=y'), ['b']);
  assert.deepEqual(await found('type!=x,metadata.name!=a'), ['b']);
  assert.deepEqual(await found('type=x,'), ['c']);
  assert.equal(await found('type'), "invalid selector: 'type'; can't understand 'type'");
  assert.equal(await found('type=\\x'), 'invalid field selector: invalid escape sequence: \\x');
});
