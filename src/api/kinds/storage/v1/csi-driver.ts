import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { duplicate, type FieldProblem, invalid, notSupported } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import type { CSIDriver, TokenRequest } from '#api/types/storage-v1.ts';

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const periodMinSeconds = 10;

export const csiDriver = defineKind<CSIDriver>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  message: 'storage.v1.CSIDriver',
  allowsUnconditionalUpdate: false,
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('AttachRequired', {
      type: 'boolean',
      description: 'Whether volumes are attached first.',
      cell: ({ spec }) => spec.attachRequired ?? true,
    }),
    column('PodInfoOnMount', { type: 'boolean', description: 'Whether it is told of the pod.', cell: ({ spec }) => spec.podInfoOnMount ?? false }),
    column('StorageCapacity', { type: 'boolean', description: 'Whether it says what is left.', cell: ({ spec }) => spec.storageCapacity ?? false }),
    column('TokenRequests', {
      description: 'Audiences of the tokens that it gets.',
      cell: ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
    }),
    column('RequiresRepublish', {
      type: 'boolean',
      description: 'Whether it is asked to mount again and again.',
      cell: ({ spec }) => spec.requiresRepublish ?? false,
    }),
    column('Modes', {
      description: 'Whether its volumes live by themselves or with a pod.',
      cell: ({ spec }) => (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
    }),
    ageColumn,
  ],
  setDefaults: (driver) => changePart(fill<CSIDriver>(driver, { spec: {} }), 'spec', defaultSpec),
  // Unlike other kinds' objects a driver has no generation before its first change.
  prepareUpdate: (next, previous) =>
    semanticEqual(next.spec, previous.spec) ? next : { ...next, metadata: { ...next.metadata, generation: (previous.metadata.generation ?? 0) + 1 } },
  validate: validateSpec,
  validateUpdate: (next, previous) => [
    ...validateImmutable(next.spec.attachRequired, previous.spec.attachRequired, 'spec.attachedRequired'),
    ...validateImmutable(next.spec.volumeLifecycleModes, previous.spec.volumeLifecycleModes, 'spec.volumeLifecycleModes'),
  ],
});

function defaultSpec(spec: CSIDriver['spec']): CSIDriver['spec'] {
  return fill(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
  });
}

function validateSpec({ spec }: CSIDriver): readonly FieldProblem[] {
  const { fsGroupPolicy = '', volumeLifecycleModes = [], tokenRequests = [], nodeAllocatableUpdatePeriodSeconds: period } = spec;
  const modes = 'spec.volumeLifecycleModes';
  return [
    ...(groupPolicies.includes(fsGroupPolicy) ? [] : [notSupported('spec.fsGroupPolicy', fsGroupPolicy, groupPolicies)]),
    ...validateTokenRequests(tokenRequests, 'spec.tokenRequests'),
    ...volumeLifecycleModes.filter((mode) => !lifecycleModes.includes(mode)).map((mode) => notSupported(modes, mode, lifecycleModes)),
    ...(period !== undefined && period < periodMinSeconds
      ? [invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds')]
      : []),
  ];
}

function validateTokenRequests(requests: readonly TokenRequest[], field: string): readonly FieldProblem[] {
  return requests.flatMap(({ audience = '', expirationSeconds: seconds }, index): readonly FieldProblem[] => {
    const at = `${field}[${index}]`;
    if (requests.slice(0, index).some((earlier) => (earlier.audience ?? '') === audience)) return [duplicate(`${at}.audience`, audience)];
    if (seconds === undefined) return [];
    const problem = (detail: string) => [invalid(`${at}.expirationSeconds`, seconds, detail)];
    if (seconds < 600) return problem('may not specify a duration less than 10 minutes');
    return seconds > 2 ** 32 ? problem('may not specify a duration larger than 2^32 seconds') : [];
  });
}
