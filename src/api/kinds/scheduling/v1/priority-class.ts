import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { type FieldProblem, forbidden, invalid } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateChoice } from '#api/rules/checks.ts';
import type { PriorityClass } from '#api/types/scheduling-v1.ts';

const userMax = 1_000_000_000;
const systemClasses: Readonly<Record<string, number>> = { 'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000 };

export const priorityClass = defineKind<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
  message: 'scheduling.v1.PriorityClass',
  shortNames: ['pc'],
  generation: 'one',
  columns: [
    nameColumn,
    column('Value', { type: 'integer', description: 'Priority of pods of the class.', cell: (priority) => priority.value ?? 0 }),
    column('Global-Default', {
      type: 'boolean',
      description: 'Whether pods without a class are of this one.',
      cell: (priority) => priority.globalDefault ?? false,
    }),
    ageColumn,
    column('PreemptionPolicy', {
      isWide: true,
      description: 'Whether pods of the class may push others off a node.',
      cell: (priority) => priority.preemptionPolicy ?? '',
    }),
  ],
  setDefaults: (priority) => fill<PriorityClass>(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
  validate: (priority) => [
    ...validateValue(priority),
    ...validateChoice(priority.preemptionPolicy, ['Never', 'PreemptLowerPriority'], 'preemptionPolicy'),
  ],
  validateUpdate: (next, previous) => [
    ...((next.value ?? 0) === (previous.value ?? 0) ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...(next.preemptionPolicy === previous.preemptionPolicy ? [] : [invalid('preemptionPolicy', next.preemptionPolicy, 'field is immutable')]),
  ],
});

function validateValue({ metadata: { name }, value = 0, globalDefault }: PriorityClass): readonly FieldProblem[] {
  const known = systemClasses[name];
  if (name.startsWith('system-')) {
    const isOurs = known === value && globalDefault !== true;
    return isOurs ? [] : [forbidden('metadata.name', "priority class names with 'system-' prefix are reserved for system use only")];
  }
  return value > userMax ? [forbidden('value', `maximum allowed value of a user defined priority is ${userMax}`)] : [];
}
