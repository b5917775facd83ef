import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';

export interface GarbageRules {
  /** Dead containers that stay of each name in a pod; the newest ones. */
  readonly keepPerName: number;
  /** Dead containers that stay on the node; -1: no limit. */
  readonly keepInAll: number;
  /** Younger ones are left alone. */
  readonly minimumAgeMs: number;
}

/** A container that has ended, and its pod. */
export interface DeadContainer {
  readonly pod: Pick<PodRuntimeState, 'uid' | 'namespace' | 'name'>;
  readonly container: ContainerRecord;
}

/**
 * The dead containers of the node that are to go; those of one pod and name in the order of their age.
 *
 * @param keepsNothing whether all dead containers of that pod go
 */
export function planGarbage(
  pods: readonly PodRuntimeState[],
  keepsNothing: (podUid: string) => boolean,
  rules: GarbageRules,
  nowMs: number,
): readonly DeadContainer[] {
  const bornBeforeMs = nowMs - rules.minimumAgeMs;
  const doomed: DeadContainer[] = [];
  const units: (readonly DeadContainer[])[] = [];
  for (const pod of pods) {
    const dead = deadOf(pod).filter(({ createdAtMs }) => createdAtMs <= bornBeforeMs);
    for (const unit of byName(dead).map((containers) => containers.map((container): DeadContainer => ({ pod, container })))) {
      if (keepsNothing(pod.uid)) doomed.push(...unit);
      else units.push(unit);
    }
  }
  let kept = units.map((unit) => unit.slice(0, rules.keepPerName)).filter((unit) => unit.length > 0);
  if (rules.keepInAll >= 0 && kept.flat().length > rules.keepInAll) {
    const share = Math.max(1, Math.floor(rules.keepInAll / kept.length));
    kept = kept.map((unit) => unit.slice(0, share));
    const newest = kept.flat().sort((a, b) => b.container.createdAtMs - a.container.createdAtMs);
    kept = [newest.slice(0, rules.keepInAll)];
  }
  const stays = new Set(kept.flat().map(({ container }) => container));
  return [...doomed, ...units.flat().filter(({ container }) => !stays.has(container))];
}

/** What of one pod is to go after a death, without waiting for the round that looks at all. */
export function planPodGarbage(state: PodRuntimeState, keepPerName: number): readonly ContainerRecord[] {
  return byName(deadOf(state)).flatMap((unit) => unit.slice(keepPerName));
}

/** Newest first. One that was made and is the newest of its name is about to start: it is no garbage yet. */
function deadOf({ containers }: PodRuntimeState): readonly ContainerRecord[] {
  const seen = new Set<string>();
  return containers.filter(({ name, phase }) => {
    const isNewest = !seen.has(name);
    seen.add(name);
    return phase !== 'running' && !(phase === 'created' && isNewest);
  });
}

function byName(containers: readonly ContainerRecord[]): readonly (readonly ContainerRecord[])[] {
  const groups = new Map<string, ContainerRecord[]>();
  for (const container of containers) {
    const group = groups.get(container.name);
    if (group === undefined) groups.set(container.name, [container]);
    else group.push(container);
  }
  return [...groups.values()];
}
