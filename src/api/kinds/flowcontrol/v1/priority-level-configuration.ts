import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { validateConditionTypes } from '#api/rules/flow-control/condition-types.ts';
import { validatePriorityLevel } from '#api/rules/flow-control/priority-level.ts';
import type { PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration } from '#api/types/flowcontrol-v1.ts';

export const priorityLevelConfiguration = defineKind<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  message: 'flowcontrol.v1.PriorityLevelConfiguration',
  subresources: ['status'],
  generation: 'spec',
  columns: [
    nameColumn,
    column('Type', { description: 'Whether its requests are limited.', cell: ({ spec }) => spec?.type ?? '' }),
    column('NominalConcurrencyShares', {
      description: 'Its part of the requests that are served at once.',
      cell: ({ spec }) => (spec?.limited === undefined ? '<none>' : (spec.limited.nominalConcurrencyShares ?? 0)),
    }),
    column('Queues', { description: 'In how many queues requests wait.', cell: (level) => queuingOf(level)?.queues ?? '<none>' }),
    column('HandSize', { description: 'How many of them one flow may use.', cell: (level) => queuingOf(level)?.handSize ?? '<none>' }),
    column('QueueLengthLimit', { description: 'How long a queue may get.', cell: (level) => queuingOf(level)?.queueLengthLimit ?? '<none>' }),
    ageColumn,
  ],
  setDefaults: (level) => changePart(level, 'spec', defaultSpec),
  validate: validatePriorityLevel,
  validateStatusUpdate: ({ status }) => validateConditionTypes(status?.conditions ?? [], 'status.conditions'),
});

function defaultSpec(spec: PriorityLevelConfigurationSpec): PriorityLevelConfigurationSpec {
  const withExempt = spec.type === 'Exempt' ? fill(spec, { exempt: {} }) : spec;
  const filled = changePart(withExempt, 'exempt', (exempt) => fill(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 }));
  return changePart(filled, 'limited', (limited) =>
    changePart(fill(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 }), 'limitResponse', (response) =>
      changePart(response, 'queuing', defaultQueuing),
    ),
  );
}

/** A zero is no number of queues. */
function defaultQueuing(queuing: QueuingConfiguration): QueuingConfiguration {
  return { queues: queuing.queues || 64, handSize: queuing.handSize || 8, queueLengthLimit: queuing.queueLengthLimit || 50 };
}

function queuingOf({ spec }: PriorityLevelConfiguration): QueuingConfiguration | undefined {
  return spec?.limited?.limitResponse?.queuing;
}
