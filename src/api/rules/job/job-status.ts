import { semanticEqual } from '#api/deep-equal.ts';
import { duplicate, type FieldProblem, invalid, invalidWhole, required } from '#api/field-problem.ts';
import { sharedIndex } from '#api/job/index-list.ts';
import type { Job, JobSpec, JobStatus } from '#api/types/batch-v1.ts';
import { validateNonNegatives } from '../workload.ts';
import { readIndexes } from './success-policy.ts';

/**
 * The status that whoever runs a job writes. What was wrong before may stay: a change of the spec can put a status in the wrong until it is
 * written again.
 */
export function validateJobStatus(next: Job, previous: Job): readonly FieldProblem[] {
  const status = next.status ?? {};
  const before = previous.status ?? {};
  const { active, succeeded, failed, ready, terminating } = status;
  return [
    ...validateNonNegatives({ active, succeeded, failed, ready, terminating }, 'status'),
    ...validateUncounted(status),
    ...validateConditions(status, before),
    ...validateTimes(next, before),
    ...validateEnd(status, before),
    ...validateIndexLists(next, before),
    ...validateCounts(next.spec ?? { template: {} }, status, before),
  ];
}

export function hasCondition(status: JobStatus | undefined, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
}

function isFinished(status: JobStatus): boolean {
  return hasCondition(status, 'Complete') || hasCondition(status, 'Failed');
}

function validateUncounted({ uncountedTerminatedPods }: JobStatus): readonly FieldProblem[] {
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  const seen = new Set<string>();
  return [
    ...[...succeeded.entries()].map(([i, uid]) => ({ at: `succeeded[${i}]`, uid })),
    ...[...failed.entries()].map(([i, uid]) => ({ at: `failed[${i}]`, uid })),
  ].flatMap(({ at, uid }): readonly FieldProblem[] => {
    const field = `status.uncountedTerminatedPods.${at}`;
    if (uid === '') return [invalid(field, uid, 'must not be empty')];
    if (seen.has(uid)) return [duplicate(field, uid)];
    seen.add(uid);
    return [];
  });
}

/** Two conditions that cannot both be true. */
const contradictions: readonly (readonly [string, string, string])[] = [
  ['Complete', 'Failed', 'cannot set Complete=True and Failed=true conditions'],
  ['Complete', 'FailureTarget', 'cannot set Complete=True and FailureTarget=true conditions'],
  ['SuccessCriteriaMet', 'Failed', 'cannot set SuccessCriteriaMet=True and Failed=true conditions'],
  ['SuccessCriteriaMet', 'FailureTarget', 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'],
];
/** What is announced before it is so. */
const announcements: readonly (readonly [string, string, string])[] = [
  ['Failed', 'FailureTarget', 'cannot set Failed=True condition without the FailureTarget=true condition'],
  ['Complete', 'SuccessCriteriaMet', 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition'],
];

function validateConditions(status: JobStatus, before: JobStatus): readonly FieldProblem[] {
  const field = 'status.conditions';
  const isNew = (type: string) => hasCondition(status, type) !== hasCondition(before, type);
  const both = contradictions.filter(([a, b]) => hasCondition(status, a) && hasCondition(status, b) && (isNew(a) || isNew(b)));
  const sudden = announcements.filter(([a, b]) => hasCondition(status, a) && !hasCondition(status, b) && isNew(a));
  const undone = ['Failed', 'Complete', 'FailureTarget'].filter((type) => hasCondition(before, type) && !hasCondition(status, type));
  const problems = [...both, ...sudden].map(([, , detail]) => invalidWhole(field, detail));
  problems.push(...undone.map((type) => invalidWhole(field, `cannot disable the terminal ${type}=True condition`)));
  if (hasCondition(before, 'SuccessCriteriaMet') && !hasCondition(status, 'SuccessCriteriaMet')) {
    problems.push(invalidWhole(field, 'cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (hasCondition(before, 'Complete') && isNew('SuccessCriteriaMet') && hasCondition(status, 'SuccessCriteriaMet')) {
    problems.push(invalidWhole(field, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
  return problems;
}

function validateTimes({ spec, status = {} }: Job, before: JobStatus): readonly FieldProblem[] {
  const { startTime, completionTime } = status;
  const isComplete = hasCondition(status, 'Complete');
  const startsAnew = startTime !== before.startTime;
  const endsAnew = completionTime !== before.completionTime;
  const problems: FieldProblem[] = [];
  if (endsAnew || isComplete !== hasCondition(before, 'Complete')) {
    const at = 'status.completionTime';
    if (completionTime !== undefined && !isComplete) {
      problems.push(invalid(at, completionTime, 'cannot set completionTime when there is no Complete=True condition'));
    }
    if (completionTime === undefined && isComplete) problems.push(required(at, 'completionTime is required for Complete jobs'));
  }
  if ((startsAnew || endsAnew) && startTime !== undefined && completionTime !== undefined && completionTime < startTime) {
    problems.push(invalid('status.completionTime', completionTime, 'completionTime cannot be set before startTime'));
  }
  if (completionTime !== undefined && before.completionTime !== undefined && endsAnew) {
    problems.push(invalid('status.completionTime', completionTime, 'completionTime cannot be mutated'));
  }
  if (startsAnew && before.startTime !== undefined && spec?.suspend !== true) {
    problems.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'));
  }
  return problems;
}

/** A job that is over has nothing left to do. */
function validateEnd(status: JobStatus, before: JobStatus): readonly FieldProblem[] {
  if (!isFinished(status)) return [];
  const { active = 0, terminating = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  const isJustOver = !isFinished(before);
  const problems: FieldProblem[] = [];
  if (active > 0 && (isJustOver || active !== before.active)) {
    problems.push(invalid('status.active', active, 'active>0 is invalid for finished job'));
  }
  if (startTime === undefined && (isJustOver || before.startTime !== undefined)) {
    problems.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const isCounted = (uncounted?.succeeded ?? []).length + (uncounted?.failed ?? []).length === 0;
  if (!isCounted && (isJustOver || !semanticEqual(uncounted, before.uncountedTerminatedPods))) {
    problems.push(invalid('status.uncountedTerminatedPods', uncounted, 'uncountedTerminatedPods needs to be empty for finished job'));
  }
  if (terminating > 0 && (isJustOver || terminating !== before.terminating)) {
    problems.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  }
  return problems;
}

function validateIndexLists({ spec, status = {} }: Job, before: JobStatus): readonly FieldProblem[] {
  const { completedIndexes = '', failedIndexes } = status;
  const { completions, completionMode, backoffLimitPerIndex } = spec ?? {};
  const completedAnew = completedIndexes !== (before.completedIndexes ?? '');
  const failedAnew = failedIndexes !== before.failedIndexes;
  const completed = readIndexes(completedIndexes, completions ?? 0, 'status.completedIndexes', 'completedIndexes');
  const failed = readIndexes(failedIndexes ?? '', completions ?? 0, 'status.failedIndexes', 'failedIndexes');
  const problems: FieldProblem[] = [];
  if (completedAnew && completions !== undefined) problems.push(...completed.problems);
  if (failedAnew && completions !== undefined && backoffLimitPerIndex !== undefined) problems.push(...failed.problems);
  if (completedAnew && completedIndexes !== '' && completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    problems.push(invalid('status.completedIndexes', completedIndexes, detail));
  }
  if (failedAnew && failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    problems.push(invalid('status.failedIndexes', failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  const shared = completedAnew || failedAnew ? sharedIndex(completed.runs, failed.runs) : undefined;
  if (shared !== undefined) {
    problems.push(invalid('status.failedIndexes', failedIndexes, `failedIndexes and completedIndexes overlap at index: ${shared}`));
  }
  return problems;
}

function validateCounts(spec: JobSpec, status: JobStatus, before: JobStatus): readonly FieldProblem[] {
  const { failed = 0, succeeded = 0, ready, active = 0 } = status;
  // An Indexed job of as many pods as indexes may be made smaller.
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  const problems: FieldProblem[] = [];
  if (failed < (before.failed ?? 0)) problems.push(invalid('status.failed', failed, 'cannot decrease the failed counter'));
  if (succeeded < (before.succeeded ?? 0) && !mayShrink) {
    problems.push(invalid('status.succeeded', succeeded, 'cannot decrease the succeeded counter'));
  }
  if (ready !== undefined && ready > active && (ready !== before.ready || active !== (before.active ?? 0))) {
    problems.push(invalid('status.ready', ready, 'cannot set more ready pods than active'));
  }
  return problems;
}
