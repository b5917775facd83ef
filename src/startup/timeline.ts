import { durationText } from './duration.ts';
import type { PodStartup, StepRecord } from './pod-startup.ts';

interface Row {
  readonly atMs: number;
  readonly name: string;
  readonly tookMs: number | undefined;
  readonly note: string;
}

/** The start of a pod as lines: when each moment and step came, counted from the first, how long it took, the runtime's calls below it. */
export function timelineLines(record: PodStartup): readonly string[] {
  const rows = [...milestoneRows(record), ...record.steps.flatMap(stepRows)].sort((a, b) => a.atMs - b.atMs);
  const first = rows[0];
  if (first === undefined) return [`no step of pod ${record.metadata.namespace}/${record.metadata.name} is known`];
  return [
    `pod ${record.metadata.namespace}/${record.metadata.name}${record.nodeName === '' ? '' : ` on node ${record.nodeName}`}`,
    `${'AT'.padStart(10)}  ${'TOOK'.padStart(10)}  STEP`,
    ...rows.map((row) => {
      const at = durationText(row.atMs - first.atMs).padStart(10);
      const took = (row.tookMs === undefined ? '' : durationText(row.tookMs)).padStart(10);
      return `${at}  ${took}  ${row.name}${row.note}`;
    }),
  ];
}

function milestoneRows(record: PodStartup): readonly Row[] {
  const titles = {
    stored: 'stored by the API server',
    assigned: 'assigned to a node',
    seenByKubelet: 'seen by the kubelet',
    running: 'Running, seen by a client',
    firstReady: 'Ready',
  } as const;
  return Object.entries(titles).flatMap(([key, title]) => {
    const atMs = record.milestones[key as keyof typeof titles]; // the keys are those of the line above
    return atMs === undefined ? [] : [{ atMs, name: title, tookMs: undefined, note: '' }];
  });
}

function stepRows(step: StepRecord): readonly Row[] {
  const trouble = step.reason === undefined ? '' : `: ${step.phase}, ${step.reason}: ${step.detail ?? ''}`;
  const tries = step.attempts > 1 ? ` (${step.attempts} tries)` : '';
  const head = { atMs: step.startedAtMs, name: step.name, tookMs: step.tookMs, note: `${tries}${trouble}` };
  return [head, ...step.calls.map((call) => ({ atMs: call.startedAtMs, name: `  ${call.name}`, tookMs: call.tookMs, note: '' }))];
}
