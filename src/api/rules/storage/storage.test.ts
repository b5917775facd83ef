import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { persistentVolume } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { csiDriver } from '#api/kinds/storage/v1/csi-driver.ts';
import { csiNode } from '#api/kinds/storage/v1/csi-node.ts';
import { storageClass } from '#api/kinds/storage/v1/storage-class.ts';
import { volumeAttachment } from '#api/kinds/storage/v1/volume-attachment.ts';
import { volumeAttributesClass } from '#api/kinds/storage/v1/volume-attributes-class.ts';
import type { KubeObject } from '#api/object.ts';
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeSpec } from '#api/types/core-v1.ts';
import { differencesText } from '../immutable.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
/** An object as its kind defaults it. */
function made<T extends KubeObject>(kind: Kind<T>, parts: object): T {
  const place = kind.scope === 'Namespaced' ? { ...metadata, namespace: 'default' } : metadata;
  return kind.setDefaults({ apiVersion: 'v1', kind: kind.kind, metadata: place, ...parts } as unknown as T); // the parts are those of a T
}
function problemsOf<T extends KubeObject>(kind: Kind<T>, parts: object): readonly string[] {
  return kind.validate(made(kind, parts)).map(problemText);
}
function updateProblemsOf<T extends KubeObject>(kind: Kind<T>, next: object, previous: object): readonly string[] {
  return kind.validateUpdate(made(kind, next), made(kind, previous)).map(problemText);
}

const volume: PersistentVolumeSpec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
const ofVolume = (spec: PersistentVolumeSpec) => problemsOf(persistentVolume, { spec });

test('a volume says how much it holds, how it is used and what it is', () => {
  assert.deepEqual(ofVolume(volume), []);
  assert.deepEqual(ofVolume({}), [
    'spec.accessModes: Required value',
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec: Required value: must specify a volume type',
  ]);
  assert.deepEqual(ofVolume({ ...volume, capacity: { storage: '0' }, accessModes: ['Odd', 'ReadWriteOncePod', 'ReadOnlyMany'] }), [
    'spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  ]);
  const { hostPath: _, ...bare } = volume;
  assert.deepEqual(ofVolume({ ...bare, nfs: { server: '', path: 'x' }, csi: { driver: 'd', volumeHandle: 'h' } }), [
    'spec.nfs.server: Required value',
    'spec.nfs.path: Invalid value: "x": must be an absolute path',
    'spec.csi: Forbidden: may not specify more than 1 volume type',
  ]);
  assert.deepEqual(ofVolume({ ...bare, local: { path: '/disk' } }), ['spec.nodeAffinity: Required value: Local volume requires node affinity']);
  assert.deepEqual(ofVolume({ ...bare, csi: { driver: '', volumeHandle: '', nodePublishSecretRef: {} } }), [
    'spec.csi.driver: Required value',
    "spec.csi.driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    'spec.csi.volumeHandle: Required value',
    'spec.csi.nodePublishSecretRef.name: Required value',
    'spec.csi.nodePublishSecretRef.namespace: Required value',
  ]);
  assert.deepEqual(ofVolume({ ...volume, hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' }), [
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ]);
});

test('a volume keeps what it is; its claim, size and policy may change', () => {
  const update = (spec: PersistentVolumeSpec, before = volume) => updateProblemsOf(persistentVolume, { spec }, { spec: before });
  assert.deepEqual(update({ ...volume, capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete', claimRef: { name: 'c' } }), []);
  assert.deepEqual(update({ ...volume, hostPath: { path: '/other' }, volumeMode: 'Block' }), [
    'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\nspec.hostPath differs\n',
    'volumeMode: Invalid value: "Block": field is immutable',
  ]);
  const csi = { driver: 'd', volumeHandle: 'h' };
  const withCsi: PersistentVolumeSpec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi };
  assert.deepEqual(update({ ...withCsi, csi: { ...csi, controllerExpandSecretRef: { name: 's', namespace: 'n' } } }, withCsi), []);
  assert.deepEqual(update(withCsi, { ...withCsi, volumeAttributesClassName: 'fast' }), [
    'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
  ]);
});

test('what goes out of use is said when it is used', () => {
  const old: PersistentVolume = made(persistentVolume, {
    metadata: { ...metadata, annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
    spec: { ...volume, capacity: { storage: '1500m' }, persistentVolumeReclaimPolicy: 'Recycle', cephfs: { monitors: ['m'] } },
  });
  assert.deepEqual(persistentVolume.warnings(old, undefined), [
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
    'spec.capacity[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

const claim: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

test('a claim says how much it needs and how', () => {
  const ofClaim = (spec: object) => problemsOf(persistentVolumeClaim, { spec });
  assert.deepEqual(ofClaim(claim), []);
  assert.deepEqual(ofClaim({ storageClassName: '' }), [
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ]);
  assert.deepEqual(ofClaim({ ...claim, volumeMode: 'Odd', dataSource: { kind: 'Pod', name: '' }, resources: { requests: { storage: '-1' } } }), [
    'spec.resources[storage]: Invalid value: "-1": must be greater than zero',
    'spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"',
    'spec.dataSource.name: Required value',
    'spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
  ]);
});

test('the two ways to say what a claim is filled with say the same; what is neither claim nor snapshot goes into the newer one only', () => {
  const created = (spec: object) => persistentVolumeClaim.prepareCreate(made(persistentVolumeClaim, { spec })).spec;
  const source = { kind: 'PersistentVolumeClaim', name: 'c' };
  const backup = { apiGroup: 'example.com', kind: 'Backup', name: 'b' };
  assert.deepEqual(created({ dataSource: source })?.dataSourceRef, source);
  assert.deepEqual(created({ dataSourceRef: backup })?.dataSource, backup);
  assert.deepEqual([created({ dataSource: backup })?.dataSource, created({ dataSource: backup })?.dataSourceRef], [undefined, undefined]);
  assert.equal(created({ dataSourceRef: { ...backup, namespace: 'n' } })?.dataSource, undefined);
});

test('a claim stays as it is but for its volume, once, and for its size when it is bound', () => {
  const update = (next: Partial<PersistentVolumeClaim>, previous: Partial<PersistentVolumeClaim>) =>
    updateProblemsOf(persistentVolumeClaim, next, previous);
  const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
  const larger = { ...claim, resources: { requests: { storage: '2Gi' } } };
  const smaller = { ...claim, resources: { requests: { storage: '1Mi' } } };
  const immutable = 'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n';
  assert.deepEqual(update({ spec: { ...claim, volumeName: 'v' } }, { spec: claim }), []);
  assert.deepEqual(update({ spec: { ...claim, volumeName: 'w' } }, { spec: { ...claim, volumeName: 'v' } }), [
    `${immutable}spec.volumeName differs\n`,
  ]);
  assert.deepEqual(update({ spec: { ...claim, storageClassName: 'x' } }, { spec: claim }), []);
  assert.deepEqual(update({ spec: larger, status }, { spec: claim, status }), []);
  assert.deepEqual(update({ spec: larger }, { spec: claim }), [`${immutable}spec.resources differs\n`]);
  assert.deepEqual(update({ spec: claim, status: { ...status, capacity: { storage: '500Mi' } } }, { spec: larger, status: { phase: 'Bound' } }), []);
  assert.deepEqual(update({ spec: smaller, status }, { spec: claim, status }), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ]);
});

test('a storage class keeps its provisioner, parameters, policy and mode', () => {
  assert.deepEqual(
    problemsOf(storageClass, {
      reclaimPolicy: 'Recycle',
      volumeBindingMode: 'Odd',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: [] }] }],
    }),
    [
      'provisioner: Required value',
      'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
      'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
    ],
  );
  const before = { provisioner: 'p', parameters: { a: 'b' } };
  assert.deepEqual(updateProblemsOf(storageClass, { ...before, allowVolumeExpansion: true }, before), []);
  assert.deepEqual(updateProblemsOf(storageClass, { provisioner: 'q', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' }, before), [
    'parameters: Forbidden: updates to parameters are forbidden.',
    'provisioner: Forbidden: updates to provisioner are forbidden.',
    'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ]);
  assert.deepEqual(problemsOf(volumeAttributesClass, {}), [
    'driverName: Required value',
    'parameters: Required value: must contain at least one key/value pair',
  ]);
});

test('a driver has its defaults, keeps how it attaches, and counts its changes from the first', () => {
  assert.deepEqual(made(csiDriver, {}).spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  });
  assert.deepEqual(updateProblemsOf(csiDriver, { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } }, {}), [
    'spec.attachedRequired: Invalid value: false: field is immutable',
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ]);
  const tokens = [{ audience: 'a', expirationSeconds: 10 }, { audience: 'a' }];
  assert.deepEqual(problemsOf(csiDriver, { spec: { fsGroupPolicy: 'Odd', tokenRequests: tokens, nodeAllocatableUpdatePeriodSeconds: 5 } }), [
    'spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 5: must be greater than or equal to 10 seconds',
  ]);
  const first = csiDriver.prepareCreate(made(csiDriver, {}));
  const second = csiDriver.prepareUpdate(made(csiDriver, { spec: { podInfoOnMount: true } }), first);
  assert.deepEqual([first.metadata.generation, second.metadata.generation], [undefined, 1]);
});

test('what a node has of a driver comes and goes whole', () => {
  const one = { name: 'd.example.com', nodeID: 'n' };
  const ofDrivers = (...drivers: readonly object[]) => ({ spec: { drivers } });
  assert.deepEqual(problemsOf(csiNode, ofDrivers(one, { ...one, nodeID: '', allocatable: { count: -1 }, topologyKeys: ['k', 'k'] })), [
    'spec.drivers[1].nodeID: Required value',
    'spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    'spec.drivers[1].name: Duplicate value: "d.example.com"',
    'spec.drivers[1]: Duplicate value: "k"',
  ]);
  assert.deepEqual(updateProblemsOf(csiNode, ofDrivers({ ...one, allocatable: { count: 3 } }), ofDrivers(one)), []);
  assert.deepEqual(updateProblemsOf(csiNode, ofDrivers(), ofDrivers(one)), []);
  assert.deepEqual(updateProblemsOf(csiNode, ofDrivers({ ...one, nodeID: 'm' }), ofDrivers(one)), [
    'spec.drivers: Invalid value: {"name":"d.example.com","nodeID":"m"}: field is immutable',
  ]);
});

test('an attachment is of one volume, and stays what it is', () => {
  const spec = { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  const inline = { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'h' } };
  assert.deepEqual(problemsOf(volumeAttachment, { spec }), []);
  assert.deepEqual(problemsOf(volumeAttachment, { spec: { ...spec, source: {} } }), [
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ]);
  assert.deepEqual(problemsOf(volumeAttachment, { spec: { ...spec, source: { inlineVolumeSpec: inline } } }), []);
  assert.deepEqual(problemsOf(volumeAttachment, { spec: { ...spec, source: { inlineVolumeSpec: volume } } }), [
    'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
  ]);
  assert.deepEqual(updateProblemsOf(volumeAttachment, { spec: { ...spec, nodeName: 'm' } }, { spec }), [
    'spec: Invalid value: {"attacher":"d.example.com","nodeName":"m","source":{"persistentVolumeName":"v"}}: field is immutable',
  ]);
});

test('differences name the fields, and zeros that mean nothing are none', () => {
  assert.equal(differencesText({ a: 1, b: '', c: [1] }, { a: 2, c: [1] }, 'spec'), 'spec.a differs\n');
});
