import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { certificateRequest } from '../support/certificate-request.ts';
import { type KubectlVersion, kubectlOf, outputOf } from '../support/kubectl.ts';

const manifest = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  storageClassName: slow
  hostPath: {path: /data}
  claimRef: {namespace: default, name: data}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: slow
  resources: {requests: {storage: 5Gi}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: slow, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disks
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disks.example.com}
spec: {attachRequired: false, tokenRequests: [{audience: a}, {audience: b}]}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: node-1}
spec: {drivers: [{name: disks.example.com, nodeID: n1, topologyKeys: []}]}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: attached}
spec: {attacher: disks.example.com, nodeName: node-1, source: {persistentVolumeName: disk}}
---
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: room, namespace: default}
storageClassName: slow
capacity: 10Gi
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata: {name: quick}
driverName: disks.example.com
parameters: {iops: "100"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {url: 'https://checks.example.com'}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: changes}
webhooks: []
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: policy}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [tests]}]
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec: {policyName: policy, validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Deny}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tests.example.com}
spec:
  group: example.com
  names: {plural: tests, kind: Test}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: robot}
spec: {request: ${certificateRequest}, signerName: example.com/signer, usages: [client auth], expirationSeconds: 7200}
`;

/** Kind, header and row of \`kubectl get\`, columns separated by \`|\`; ages and other times are \`*\`. */
const tables: readonly (readonly [string, string, string])[] = [
  [
    'pv',
    'NAME|CAPACITY|ACCESS MODES|RECLAIM POLICY|STATUS|CLAIM|STORAGECLASS|VOLUMEATTRIBUTESCLASS|REASON|AGE',
    'disk|5Gi|RWO,ROX|Retain|Pending|default/data|slow|<unset>|*',
  ],
  ['pvc', 'NAME|STATUS|VOLUME|CAPACITY|ACCESS MODES|STORAGECLASS|VOLUMEATTRIBUTESCLASS|AGE', 'data|Pending|slow|<unset>|*'],
  ['sc', 'NAME|PROVISIONER|RECLAIMPOLICY|VOLUMEBINDINGMODE|ALLOWVOLUMEEXPANSION|AGE', 'slow (default)|example.com/disks|Delete|Immediate|false|*'],
  [
    'csidriver',
    'NAME|ATTACHREQUIRED|PODINFOONMOUNT|STORAGECAPACITY|TOKENREQUESTS|REQUIRESREPUBLISH|MODES|AGE',
    'disks.example.com|false|false|false|a,b|false|Persistent|*',
  ],
  ['csinode', 'NAME|DRIVERS|AGE', 'node-1|1|*'],
  ['volumeattachment', 'NAME|ATTACHER|PV|NODE|ATTACHED|AGE', 'attached|disks.example.com|disk|node-1|false|*'],
  ['csistoragecapacity', 'NAME|STORAGECLASSNAME|CAPACITY', 'room|slow|10Gi'],
  ['vac', 'NAME|DRIVERNAME|AGE', 'quick|disks.example.com|*'],
  ['validatingwebhookconfiguration', 'NAME|WEBHOOKS|AGE', 'checks|1|*'],
  ['mutatingwebhookconfiguration', 'NAME|WEBHOOKS|AGE', 'changes|0|*'],
  ['validatingadmissionpolicy', 'NAME|VALIDATIONS|PARAMKIND|AGE', 'policy|1|v1/ConfigMap|*'],
  ['validatingadmissionpolicybinding', 'NAME|POLICYNAME|PARAMREF|AGE', 'bound|policy|*/limits|*'],
  ['crd', 'NAME|CREATED AT', 'tests.example.com|*'],
  ['csr', 'NAME|AGE|SIGNERNAME|REQUESTOR|REQUESTEDDURATION|CONDITION', 'robot|*|example.com/signer|admin|120m|Pending'],
];

for (const version of ['1.35', '1.20'] as const) describe(`storage and registration kinds with kubectl ${version}`, () => walkThrough(version));

function walkThrough(version: KubectlVersion): void {
  let api: TestApiServer;
  const run = async (words: string, input = ''): Promise<string> => outputOf(await kubectlOf(api.kubeconfigFile, version)(words, { input }));
  before(async () => {
    api = await startApiServer();
  });
  after(() => api[Symbol.asyncDispose]());

  test('each is created, and shown in its columns', async () => {
    const created = await run('create -f -', manifest);
    assert.equal(created.trim().split('\n').length, tables.length, created);
    for (const [kind, header, row] of tables) {
      const [first = '', second = ''] = (await run(`get ${kind}`)).trim().split('\n');
      assert.equal(columnsOf(first), header);
      assert.match(columnsOf(second), new RegExp(`^${row.split('*').map(escaped).join('.+')}$`), kind);
    }
  });

  test('each is described and patched', async () => {
    const described = await run('describe -f -', manifest);
    assert.equal(described.match(/^Name:/gm)?.length, tables.length);
    const patched = await run(`patch -f - --type merge -p {"metadata":{"annotations":{"seen":"yes"}}}`, manifest);
    assert.equal(patched.trim().split('\n').length, tables.length, patched);
    assert.equal(await run('get csinode node-1 -o jsonpath={.metadata.annotations.seen}'), 'yes');
  });

  test('each is deleted; what is protected stays until it is let go', async () => {
    const deleted = await run('delete --wait=false -f -', manifest);
    assert.equal(deleted.trim().split('\n').length, tables.length, deleted);
    assert.match(await run('get pvc data'), /^data\s+Terminating\s/m);
    for (const target of ['pv/disk', 'pvc/data']) await run(`patch ${target} --type merge -p {"metadata":{"finalizers":null}}`);
    for (const kind of tables.map(([name]) => name)) assert.equal(await run(`get ${kind} -o name`), '', kind);
  });

  test('events of both groups are the same ones', async () => {
    const event = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: seen, namespace: default}
eventTime: ${new Date().toISOString().replace('Z', '000Z')}
reportingController: example.com/tester
reportingInstance: tester-1
action: Testing
reason: Tested
note: all is well
type: Normal
regarding: {kind: Pod, namespace: default, name: p}
`;
    await run('create -f -', event);
    for (const words of ['get events', 'get events.events.k8s.io', ...(version === '1.35' ? ['events'] : [])]) {
      const [header = '', row = ''] = (await run(words)).trim().split('\n');
      assert.equal(columnsOf(header), 'LAST SEEN|TYPE|REASON|OBJECT|MESSAGE', words);
      assert.match(columnsOf(row), /^\S+( \(x1 over \S+\))?\|Normal\|Tested\|(pod|Pod)\/p\|all is well$/, words);
    }
    assert.equal(await run('get events.v1. seen -o jsonpath={.message}'), 'all is well');
    await run('delete events.events.k8s.io seen');
    assert.equal(await run('get events -o name'), '');
  });

  test('component statuses are shown, with a word of warning', async () => {
    const { stdout, stderr } = await kubectlOf(api.kubeconfigFile, version)('get cs');
    assert.match(stdout, /^etcd-0\s+Healthy\s+ok\s*$/m);
    assert.match(stderr, /v1 ComponentStatus is deprecated in v1\.19\+/);
  });
}

function columnsOf(line: string): string {
  return line
    .trim()
    .split(/\s{2,}/)
    .join('|');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^$(){}|[\]\\/]/g, '\\$&');
}
