import { deepEqual } from '#api/deep-equal.ts';
import type { Toleration } from '#api/types/core-v1.ts';

/** Both lists as one, without what another toleration of them covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      all.slice(index + 1).some((later) => !deepEqual(later, toleration) && covers(later, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
}

/** Whether whatever `other` tolerates, `toleration` does too. */
function covers(toleration: Toleration, other: Toleration): boolean {
  if (deepEqual(toleration, other)) return true;
  const { key = '', operator = 'Equal', effect = '', value = '', tolerationSeconds } = toleration;
  const isOfAllKeys = key === '' && operator === 'Exists';
  if ((other.key ?? '') !== key && !isOfAllKeys) return false;
  if ((other.effect ?? '') !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return operator === 'Equal' && (other.operator ?? 'Equal') === 'Equal' && (other.value ?? '') === value;
}
