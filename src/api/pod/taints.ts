import type { Taint, Toleration } from '#api/types/core-v1.ts';

export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

/** Whether one toleration covers one taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  // An empty operator means Equal; an empty key with Equal covers nothing that has a key.
  return (operator === 'Equal' || operator === '') && key === taint.key && value === (taint.value ?? '');
}

/** The first taint with one of the effects that no toleration covers. */
export function findUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly TaintEffect[],
): Taint | undefined {
  return (taints ?? []).find((taint) => effects.some((effect) => effect === taint.effect) && !isTolerated(taint, tolerations));
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return (tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

/**
 * How long a pod may stay on a node with these `NoExecute` taints.
 *
 * @returns `Infinity` for ever, 0 for not at all
 */
export function toleratedSeconds(taints: readonly Taint[] | undefined, tolerations: readonly Toleration[] | undefined): number {
  const evicting = (taints ?? []).filter((taint) => taint.effect === 'NoExecute');
  const each = evicting.map((taint) => {
    const covering = (tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (covering.length === 0) return 0;
    return Math.min(...covering.map(({ tolerationSeconds }) => Math.max(0, tolerationSeconds ?? Number.POSITIVE_INFINITY)));
  });
  return Math.min(Number.POSITIVE_INFINITY, ...each);
}
