import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { defaultPod } from '#api/pod/default-pod.ts';
import { printedStatus } from '#api/pod/printed-status.ts';
import { computeQosClass } from '#api/pod/qos.ts';
import { newPodWarnings } from '#api/pod/warnings.ts';
import { ephemeralContainersUpdate } from '#api/rules/pod/ephemeral-update.ts';
import { validatePod } from '#api/rules/pod/pod.ts';
import { validatePodStatusUpdate, validatePodUpdate } from '#api/rules/pod/pod-update.ts';
import { resizeUpdate } from '#api/rules/pod/resize.ts';
import type { Pod, PodStatus } from '#api/types/core-v1.ts';

export const pod = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  message: 'core.v1.Pod',
  shortNames: ['po'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status', 'binding', 'ephemeralcontainers', 'eviction', 'resize', 'log', 'exec', 'attach', 'portforward', 'proxy'],
  resetFields: { status: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  partialUpdates: { ephemeralcontainers: ephemeralContainersUpdate, resize: resizeUpdate },
  answersDeleteWithObject: true,
  selectableFields: {
    'spec.nodeName': (pod) => pod.spec?.nodeName ?? '',
    'spec.host': (pod) => pod.spec?.nodeName ?? '', // an old name of the same
    'spec.restartPolicy': (pod) => pod.spec?.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec?.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec?.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec?.hostNetwork ?? false),
    'status.phase': (pod) => pod.status?.phase ?? '',
    'status.podIP': (pod) => pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '',
    'status.podIPs': (pod) => (pod.status?.podIPs ?? []).map(({ ip }) => ip).join(','),
    'status.nominatedNodeName': (pod) => pod.status?.nominatedNodeName ?? '',
  },
  columns: [
    nameColumn,
    column('Ready', {
      description: 'The aggregate readiness state of this pod for accepting traffic.',
      cell: (pod, nowMs) => printedStatus(pod, nowMs).ready,
    }),
    column('Status', { description: 'The aggregate status of the containers in this pod.', cell: (pod, nowMs) => printedStatus(pod, nowMs).status }),
    column('Restarts', {
      description: 'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
      cell: (pod, nowMs) => printedStatus(pod, nowMs).restarts,
    }),
    ageColumn,
    column('IP', { isWide: true, description: 'Address of the pod.', cell: (pod) => orNone(pod.status?.podIPs?.[0]?.ip) }),
    column('Node', { isWide: true, description: 'Node that the pod is assigned to.', cell: (pod) => orNone(pod.spec?.nodeName) }),
    column('Nominated Node', {
      isWide: true,
      description: 'Node that the pod may be assigned to once others have left it.',
      cell: (pod) => orNone(pod.status?.nominatedNodeName),
    }),
    column('Readiness Gates', { isWide: true, description: 'Conditions beyond its own that the pod needs to be ready.', cell: readinessGates }),
  ],
  setDefaults: defaultPod,
  prepareCreate: (pod) => ({ ...pod, status: newStatus(pod) }),
  prepareStatusUpdate: (next, previous) => {
    // The status endpoint leaves to their own endpoints what decides the pod's end and owner.
    const { deletionTimestamp, ownerReferences } = previous.metadata;
    const metadata = { ...next.metadata, deletionTimestamp, ownerReferences };
    const qosClass = next.status?.qosClass ?? previous.status?.qosClass;
    return { ...next, metadata, status: { ...next.status, ...(qosClass === undefined ? {} : { qosClass }) } };
  },
  // Later changes of a pod come from programs, and often.
  warnings: (pod, previous) => (previous === undefined ? newPodWarnings(pod) : []),
  validate: validatePod,
  validateCreate: (pod) =>
    (pod.spec?.ephemeralContainers?.length ?? 0) === 0
      ? []
      : [{ type: 'Forbidden', field: 'spec.ephemeralContainers', detail: 'cannot be set on create' }],
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  gracefulDeletion: (pod, requestedGraceSeconds) => {
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (isOver || (pod.spec?.nodeName ?? '') === '') return 0;
    const seconds = requestedGraceSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
    return seconds < 0 ? 1 : seconds;
  },
  rowConditions: ({ status }) => {
    const phase = status?.phase;
    if (phase !== 'Succeeded' && phase !== 'Failed') return [];
    const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.';
    return [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
});

function newStatus(pod: Pod): PodStatus {
  const status: PodStatus = { phase: 'Pending', qosClass: computeQosClass(pod) };
  if ((pod.spec?.schedulingGates ?? []).length === 0) return status;
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  return { ...status, conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }] };
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const isTrue = (type: string) => pod.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  return `${gates.filter((gate) => isTrue(gate.conditionType)).length}/${gates.length}`;
}

function orNone(text: string | undefined): string {
  return text === undefined || text === '' ? '<none>' : text;
}
