import type { Container, Pod } from '#api/types/core-v1.ts';

/** From when to when, epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The part of the time in which at least one of the spans was: those that overlap count once. */
export function coveredMs(spans: readonly Span[]): number {
  let covered = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const { fromMs, toMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    covered += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return covered;
}

/** Whether every container of the pod runs, as far as the API server knows. */
export function hasStarted({ status }: Pod): boolean {
  const states = status?.containerStatuses ?? [];
  return states.length > 0 && states.every(({ state }) => state?.running !== undefined);
}

/** Times in which init containers ran that had to end before others could start. */
export function initSpans({ spec, status }: Pod): readonly Span[] {
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  return (status?.initContainerStatuses ?? []).flatMap(({ name, state }) => {
    const { startedAt, finishedAt } = state?.terminated ?? {};
    if (sidecars.has(name) || startedAt === undefined || finishedAt === undefined) return [];
    return [{ fromMs: Date.parse(startedAt), toMs: Date.parse(finishedAt) }];
  });
}

/** Whether the promise that pods start fast holds for it: it waits for nothing outside the node but what it is made of. Upstream's list. */
export function isPromisedFast({ spec, status }: Pod): boolean {
  const waited = (status?.conditions ?? []).some(
    ({ type, status: now, reason }) => type === 'PodScheduled' && now === 'False' && reason === 'Unschedulable',
  );
  const local = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const;
  return !waited && (spec?.volumes ?? []).every((volume) => local.some((kind) => volume[kind] !== undefined));
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
