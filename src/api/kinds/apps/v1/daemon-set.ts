import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { labelsText } from '#api/label-selector-print.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateLastingPods, validatePodTemplate } from '#api/rules/pod-template.ts';
import {
  isNone,
  validateAtMostAll,
  validateCollisions,
  validateIntOrPercent,
  validateNonNegatives,
  validateOwnSelector,
  validateSelected,
} from '#api/rules/workload.ts';
import type { DaemonSet, DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from '#api/types/apps-v1.ts';

/** Upstream keeps the number of templates so far in a field that this version of the API does not have. */
const templateGeneration = 'deprecated.daemonset.template.generation';
/** These are always said, zero or not. */
const noPods: DaemonSetStatus = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

export const daemonSet = defineKind<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
  message: 'apps.v1.DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status'],
  columns: [
    nameColumn,
    count('Desired', 'Number of nodes that should have a pod.', ({ desiredNumberScheduled }) => desiredNumberScheduled),
    count('Current', 'Number of nodes that should have a pod and do.', ({ currentNumberScheduled }) => currentNumberScheduled),
    count('Ready', 'Number of nodes with a pod that is ready.', ({ numberReady }) => numberReady),
    count('Up-to-date', 'Number of nodes with a pod of the newest template.', ({ updatedNumberScheduled }) => updatedNumberScheduled),
    count('Available', 'Number of nodes with a pod that has been ready for long enough.', ({ numberAvailable }) => numberAvailable),
    column('Node Selector', {
      description: 'Labels of the nodes that get a pod.',
      cell: ({ spec }) => labelsText(spec?.template.spec?.nodeSelector) || '<none>',
    }),
    ageColumn,
    ...templateColumns<DaemonSet>(({ spec }) => spec?.template),
    selectorColumn<DaemonSet>(({ spec }) => spec?.selector),
  ],
  setDefaults: (object) => ({ ...object, spec: defaultSpec(object.spec ?? {}) }),
  prepareCreate: (object) => ({ ...withTemplateGeneration(object, Math.max(1, templateGenerationOf(object))), status: noPods }),
  prepareStatusUpdate: (next, previous) => {
    const status = fill(next.status ?? noPods, noPods);
    return withTemplateGeneration({ ...next, status }, templateGenerationOf(previous));
  },
  prepareUpdate: (next, previous) => {
    const isNew = !semanticEqual(next.spec?.template, previous.spec?.template);
    return withTemplateGeneration(next, templateGenerationOf(previous) + (isNew ? 1 : 0));
  },
  warnings: (next, previous) => {
    const isSame = previous !== undefined && next.metadata.generation === previous.metadata.generation;
    return isSame ? [] : podTemplateWarnings(next.spec?.template, 'spec.template');
  },
  validate: (object) => validateSpec(object.spec ?? {}, 'spec'),
  validateUpdate: (next, previous) => validateImmutable(next.spec?.selector, previous.spec?.selector, 'spec.selector'),
  validateStatusUpdate: (next, previous) => {
    const { conditions: _, ...counts } = next.status ?? noPods;
    return [...validateNonNegatives(counts, 'status'), ...validateCollisions(counts.collisionCount, previous.status?.collisionCount)];
  },
});

function count(name: string, description: string, of: (status: DaemonSetStatus) => number | undefined) {
  return column<DaemonSet>(name, { type: 'integer', description, cell: ({ status }) => of(status ?? noPods) ?? 0 });
}

function templateGenerationOf({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[templateGeneration] ?? '';
  return /^-?\d+$/.test(text) ? Number(text) : 0;
}

function withTemplateGeneration(object: DaemonSet, generation: number): DaemonSet {
  const annotations = { ...object.metadata.annotations, [templateGeneration]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function defaultSpec(spec: Partial<DaemonSetSpec>): DaemonSetSpec {
  const filled = fill<Partial<DaemonSetSpec>>(spec, { revisionHistoryLimit: 10 });
  const updateStrategy = defaultStrategy(spec.updateStrategy ?? {});
  return { ...filled, updateStrategy, template: defaultPodTemplate(spec.template) } as DaemonSetSpec; // without a selector it is refused
}

function defaultStrategy(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const typed = fill<DaemonSetUpdateStrategy>(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: fill<RollingUpdateDaemonSet>(typed.rollingUpdate ?? {}, { maxUnavailable: 1, maxSurge: 0 }) };
}

function validateSpec(spec: Partial<DaemonSetSpec>, field: string): readonly FieldProblem[] {
  const { selector, template, minReadySeconds, revisionHistoryLimit } = spec;
  return [
    // One that is absent selects nothing: that is all upstream says of it here.
    ...(selector === undefined ? [] : validateOwnSelector(selector, 'daemonset', `${field}.selector`)),
    ...validateSelected(selector, template, `${field}.template`),
    ...validatePodTemplate(template, `${field}.template`),
    ...validateLastingPods(template, 'DaemonSet', `${field}.template`),
    ...validateNonNegatives({ minReadySeconds }, field),
    ...validateStrategy(spec.updateStrategy ?? {}, `${field}.updateStrategy`),
    ...validateNonNegatives({ revisionHistoryLimit }, field),
  ];
}

function validateStrategy(strategy: DaemonSetUpdateStrategy, field: string): readonly FieldProblem[] {
  const { type, rollingUpdate } = strategy;
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    // Upstream prints its own form of the strategy.
    return [notSupported(field, { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }, ['RollingUpdate', 'OnDelete'])];
  }
  const at = `${field}.rollingUpdate`;
  if (rollingUpdate === undefined) return [required(at)];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const problems = [
    ...validateIntOrPercent(maxUnavailable, `${at}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${at}.maxSurge`),
    ...validateAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
    ...validateAtMostAll(maxSurge, `${at}.maxSurge`),
  ];
  if (isNone(maxUnavailable) === isNone(maxSurge)) {
    problems.push(
      isNone(maxSurge)
        ? required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
        : invalid(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'),
    );
  }
  return problems;
}
