import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';

const pluralsOf = (isOne: (kind: Kind) => boolean) => [...new Set(kinds.filter(isOne).map(({ plural }) => plural))].sort();

test('a PUT creates objects of these kinds, and of no others', () => {
  const expected = ['services', 'endpoints', 'events', 'limitranges', 'leases', 'runtimeclasses'];
  const roles = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'];
  assert.deepEqual(
    pluralsOf((kind) => kind.createsOnUpdate),
    [...expected, ...roles].sort(),
  );
});

test('a PUT of these kinds names the state that it means', () => {
  const registrations = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations', 'customresourcedefinitions'];
  const policies = ['mutatingadmissionpolicies', 'validatingadmissionpolicies'].flatMap((plural) => [plural, `${plural.slice(0, -3)}ybindings`]);
  const others = ['leases', 'runtimeclasses', 'poddisruptionbudgets', 'csidrivers', 'csinodes', 'csistoragecapacities', 'volumeattachments'];
  assert.deepEqual(
    pluralsOf((kind) => !kind.allowsUnconditionalUpdate),
    [...registrations, ...policies, ...others].sort(),
  );
});

test('a delete of these kinds answers with the object, of all others with a Status', () => {
  const core = ['pods', 'podtemplates', 'services', 'namespaces', 'serviceaccounts', 'resourcequotas', 'persistentvolumes', 'persistentvolumeclaims'];
  const storage = ['storageclasses', 'csidrivers', 'csinodes', 'volumeattachments', 'volumeattributesclasses'];
  const devices = ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'];
  assert.deepEqual(
    pluralsOf((kind) => kind.answersDeleteWithObject),
    [...core, ...storage, ...devices].sort(),
  );
});

test('a PUT without a revision overwrites a ConfigMap and is refused for a CSINode and a VolumeAttachment (13.19)', async () => {
  await using api = await inProcessServer();
  const put = async (collection: string, parts: object) => {
    const body = { metadata: { name: 'a' }, ...parts };
    assert.equal((await api.call('POST', collection, { body })).status, 201);
    const { status, body: answer } = await api.call('PUT', `${collection}/a`, { body });
    return [status, answer.message];
  };
  const refused = (resource: string) => [
    422,
    `${resource} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
  ];
  assert.deepEqual(await put('/api/v1/namespaces/default/configmaps', {}), [200, undefined]);
  assert.deepEqual(await put('/apis/storage.k8s.io/v1/csinodes', { spec: { drivers: [] } }), refused('csinodes.storage.k8s.io'));
  const spec = { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  assert.deepEqual(await put('/apis/storage.k8s.io/v1/volumeattachments', { spec }), refused('volumeattachments.storage.k8s.io'));
});
