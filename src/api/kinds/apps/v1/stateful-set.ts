import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { templateColumns } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { replicasScale } from '#api/replicas-scale.ts';
import { validateAtMost, validateCollisions, validateNonNegatives } from '#api/rules/workload.ts';
import { validateCreatedStatefulSet, validateStatefulSetUpdate } from '#api/rules/workload-stateful-set.ts';
import type { StatefulSet, StatefulSetSpec, StatefulSetStatus, StatefulSetUpdateStrategy } from '#api/types/apps-v1.ts';
import type { PersistentVolumeClaim } from '#api/types/core-v1.ts';

/** These are always said, zero or not. */
const noPods: StatefulSetStatus = { replicas: 0, availableReplicas: 0 };

export const statefulSet = defineKind<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
  message: 'apps.v1.StatefulSet',
  shortNames: ['sts'],
  categories: ['all'],
  nameRule: 'label', // it is the begin of the names of hosts
  generation: 'spec',
  subresources: ['status', 'scale'],
  scale: replicasScale<StatefulSet>(),
  columns: [
    nameColumn,
    column('Ready', {
      description: 'Number of the pod with ready state',
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    }),
    ageColumn,
    ...templateColumns<StatefulSet>(({ spec }) => spec?.template),
  ],
  setDefaults: (object) => ({ ...object, spec: defaultSpec(object.spec ?? {}) }),
  prepareCreate: (object) => ({ ...object, status: noPods }),
  prepareStatusUpdate: (next) => ({ ...next, status: fill(next.status ?? noPods, noPods) }),
  warnings: (next, previous) => {
    if (previous !== undefined && next.metadata.generation === previous.metadata.generation) return [];
    const isEndless = (next.spec?.revisionHistoryLimit ?? 0) < 0;
    const text = 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';
    return [...podTemplateWarnings(next.spec?.template, 'spec.template'), ...(isEndless ? [text] : [])];
  },
  validateCreate: validateCreatedStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  validateStatusUpdate: (next, previous) => {
    const { observedGeneration, replicas, readyReplicas, currentReplicas, updatedReplicas, availableReplicas, collisionCount } = next.status ?? {
      replicas: 0,
    };
    const counts = { replicas, readyReplicas, currentReplicas, updatedReplicas, availableReplicas, observedGeneration, collisionCount };
    return [
      ...validateNonNegatives(counts, 'status'),
      ...validateAtMost({ readyReplicas, currentReplicas, updatedReplicas, availableReplicas }, replicas, 'status.replicas', 'status'),
      ...validateAtMost({ availableReplicas }, readyReplicas, 'status.readyReplicas', 'status'),
      ...validateCollisions(collisionCount, previous.status?.collisionCount),
    ];
  },
});

function defaultSpec(spec: Partial<StatefulSetSpec>): StatefulSetSpec {
  const filled = fill<Partial<StatefulSetSpec>>(spec, { replicas: 1, podManagementPolicy: 'OrderedReady', revisionHistoryLimit: 10 });
  const updateStrategy = defaultStrategy(spec.updateStrategy ?? {});
  const persistentVolumeClaimRetentionPolicy = fill(spec.persistentVolumeClaimRetentionPolicy ?? {}, { whenDeleted: 'Retain', whenScaled: 'Retain' });
  const withClaims = changePart(filled, 'volumeClaimTemplates', (claims) => claims.map(defaultClaim));
  const template = defaultPodTemplate(spec.template);
  return { ...withClaims, updateStrategy, persistentVolumeClaimRetentionPolicy, template } as StatefulSetSpec; // without a selector it is refused
}

function defaultStrategy(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const isUnsaid = (strategy.type ?? '') === '';
  const typed = isUnsaid ? { type: 'RollingUpdate', rollingUpdate: strategy.rollingUpdate ?? {} } : strategy;
  if (typed.type !== 'RollingUpdate') return typed;
  return changePart(typed, 'rollingUpdate', (rollingUpdate) => fill(rollingUpdate, { partition: 0 }));
}

/** Written out as a claim of its own would be. */
function defaultClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const typed = { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  return { ...typed, spec: fill(claim.spec ?? {}, { volumeMode: 'Filesystem' }), status: fill(claim.status ?? {}, { phase: 'Pending' }) };
}
