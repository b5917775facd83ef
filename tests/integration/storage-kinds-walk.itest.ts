import { test } from 'node:test';
import { mutatingAdmissionPolicy } from '#api/kinds/admissionregistration/v1/mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBinding } from '#api/kinds/admissionregistration/v1/mutating-admission-policy-binding.ts';
import { mutatingWebhookConfiguration } from '#api/kinds/admissionregistration/v1/mutating-webhook-configuration.ts';
import { validatingAdmissionPolicy } from '#api/kinds/admissionregistration/v1/validating-admission-policy.ts';
import { validatingAdmissionPolicyBinding } from '#api/kinds/admissionregistration/v1/validating-admission-policy-binding.ts';
import { validatingWebhookConfiguration } from '#api/kinds/admissionregistration/v1/validating-webhook-configuration.ts';
import { customResourceDefinition } from '#api/kinds/apiextensions/v1/custom-resource-definition.ts';
import { certificateSigningRequest } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import { event as coreEvent } from '#api/kinds/core/v1/event.ts';
import { persistentVolume } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { event as newerEvent } from '#api/kinds/events/v1/event.ts';
import { flowSchema } from '#api/kinds/flowcontrol/v1/flow-schema.ts';
import { priorityLevelConfiguration } from '#api/kinds/flowcontrol/v1/priority-level-configuration.ts';
import { deviceClass } from '#api/kinds/resource/v1/device-class.ts';
import { resourceClaim } from '#api/kinds/resource/v1/resource-claim.ts';
import { resourceClaimTemplate } from '#api/kinds/resource/v1/resource-claim-template.ts';
import { resourceSlice } from '#api/kinds/resource/v1/resource-slice.ts';
import { csiDriver } from '#api/kinds/storage/v1/csi-driver.ts';
import { csiNode } from '#api/kinds/storage/v1/csi-node.ts';
import { csiStorageCapacity } from '#api/kinds/storage/v1/csi-storage-capacity.ts';
import { storageClass } from '#api/kinds/storage/v1/storage-class.ts';
import { volumeAttachment } from '#api/kinds/storage/v1/volume-attachment.ts';
import { volumeAttributesClass } from '#api/kinds/storage/v1/volume-attributes-class.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { type ApiWalk, walkApi } from '../support/api-walk.ts';
import { certificateRequest } from '../support/certificate-request.ts';

const rule = { operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['walks'] };
const webhook = {
  name: 'walk.example.com',
  clientConfig: { url: 'https://walk.example.com' },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const matchConstraints = { resourceRules: [rule] };

const devices = { requests: [{ name: 'one', exactly: { deviceClassName: 'walker.example.com' } }] };

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
  { kind: validatingWebhookConfiguration, manifest: { webhooks: [webhook] } },
  { kind: mutatingWebhookConfiguration, manifest: { webhooks: [webhook] } },
  {
    kind: validatingAdmissionPolicy,
    manifest: { spec: { matchConstraints, validations: [{ expression: 'true' }] } },
    status: { observedGeneration: 1, typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: 'odd' }] } },
  },
  { kind: validatingAdmissionPolicyBinding, manifest: { spec: { policyName: 'walk', validationActions: ['Audit'] } } },
  {
    kind: mutatingAdmissionPolicy,
    manifest: { spec: { matchConstraints, reinvocationPolicy: 'Never', mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }] } },
  },
  { kind: mutatingAdmissionPolicyBinding, manifest: { spec: { policyName: 'walk' } } },
  {
    kind: flowSchema,
    manifest: { spec: { priorityLevelConfiguration: { name: 'walk' }, matchingPrecedence: 9000 } },
    status: { conditions: [{ type: 'Walked', status: 'True', reason: 'Odd' }] },
  },
  {
    kind: priorityLevelConfiguration,
    manifest: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, limitResponse: { type: 'Reject' } } } },
    status: { conditions: [{ type: 'Walked', status: 'True', reason: 'Odd' }] },
  },
  { kind: deviceClass, manifest: { spec: { selectors: [{ cel: { expression: 'true' } }] } } },
  {
    kind: resourceClaim,
    manifest: { spec: { devices } },
    status: { allocation: { devices: { results: [{ request: 'one', driver: 'walker.example.com', pool: 'p', device: 'd' }] } } },
  },
  { kind: resourceClaimTemplate, manifest: { spec: { spec: { devices } } } },
  {
    kind: resourceSlice,
    manifest: { spec: { driver: 'walker.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 3 }, nodeName: 'n1' } },
    fieldSelector: 'spec.nodeName=n1,spec.driver=walker.example.com',
  },
  {
    kind: customResourceDefinition,
    manifest: (index) => ({
      metadata: { name: `walks${index}.example.com` },
      spec: {
        group: 'example.com',
        names: { plural: `walks${index}`, kind: `Walk${index}` },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }),
    status: { conditions: [{ type: 'Walked', status: 'True', reason: 'Odd' }] },
  },
  {
    kind: certificateSigningRequest,
    manifest: { spec: { request: certificateRequest, signerName: 'example.com/walker', usages: ['client auth'] } },
    fieldSelector: 'spec.signerName=example.com/walker',
    status: {
      conditions: [
        { type: 'Walked', status: 'True', reason: 'Odd', lastUpdateTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' },
      ],
    },
  },
];

for (const walk of walks) {
  test(`the API walk passes for ${walk.kind.plural} of ${walk.kind.group || 'the core group'}`, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
