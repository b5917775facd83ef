import { test } from 'node:test';
import { event as coreEvent } from '#api/kinds/core/v1/event.ts';
import { persistentVolume } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { event as newerEvent } from '#api/kinds/events/v1/event.ts';
import { csiDriver } from '#api/kinds/storage/v1/csi-driver.ts';
import { csiNode } from '#api/kinds/storage/v1/csi-node.ts';
import { csiStorageCapacity } from '#api/kinds/storage/v1/csi-storage-capacity.ts';
import { storageClass } from '#api/kinds/storage/v1/storage-class.ts';
import { volumeAttachment } from '#api/kinds/storage/v1/volume-attachment.ts';
import { volumeAttributesClass } from '#api/kinds/storage/v1/volume-attributes-class.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { type ApiWalk, walkApi } from '../support/api-walk.ts';

const walks: readonly ApiWalk[] = [
  {
    kind: coreEvent,
    manifest: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Walked', type: 'Warning' },
    fieldSelector: 'reason=Walked',
  },
  {
    kind: newerEvent,
    manifest: {
      regarding: { kind: 'Pod', namespace: 'default', name: 'q' },
      eventTime: '2030-01-01T00:00:00.000000Z',
      reportingController: 'example.com/walker',
      reportingInstance: 'walker-1',
      action: 'Walking',
      reason: 'Walked',
      type: 'Normal',
    },
    fieldSelector: 'reportingController=example.com/walker',
  },
  {
    kind: persistentVolume,
    manifest: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/walk' } } },
    status: { phase: 'Available', message: 'walked' },
  },
  {
    kind: persistentVolumeClaim,
    manifest: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    status: { conditions: [{ type: 'Walking', status: 'True', reason: 'Walked' }] },
  },
  { kind: storageClass, manifest: { provisioner: 'example.com/walker', parameters: { kind: 'slow' } } },
  { kind: csiDriver, manifest: { spec: { attachRequired: false } } },
  { kind: csiNode, manifest: { spec: { drivers: [{ name: 'walker.example.com', nodeID: 'n1', topologyKeys: ['example.com/zone'] }] } } },
  {
    kind: volumeAttachment,
    manifest: { spec: { attacher: 'walker.example.com', nodeName: 'n1', source: { persistentVolumeName: 'v1' } } },
    status: { attached: true, attachmentMetadata: { device: '/dev/x' } },
  },
  { kind: csiStorageCapacity, manifest: { storageClassName: 'slow', capacity: '10Gi', nodeTopology: {} } },
  { kind: volumeAttributesClass, manifest: { driverName: 'walker.example.com', parameters: { iops: '100' } } },
];

for (const walk of walks) {
  test(`the API walk passes for ${walk.kind.plural} of ${walk.kind.group || 'the core group'}`, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
