import type { NodeCondition } from '#api/types/core-v1.ts';

/** What keeps the node from being what it should be. */
export interface NodeHealth {
  /** '' when there is none; in the order in which they are told. */
  readonly problems: readonly string[];
  readonly memoryPressure: boolean;
  readonly diskPressure: boolean;
  readonly pidPressure: boolean;
}

export const noPressure = { memoryPressure: false, diskPressure: false, pidPressure: false } as const;

export interface ConditionEvent {
  readonly reason: string;
  readonly message: string;
}

interface Words {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  /** Reason of the event that tells of the change to it. */
  readonly event: string;
}

/**
 * The four conditions of a node.
 *
 * @param now RFC 3339
 */
export function nodeConditions(health: NodeHealth, before: readonly NodeCondition[], now: string): readonly NodeCondition[] {
  const ours = Object.entries(wordsOf(health)).map(([type, words]): NodeCondition => {
    const last = before.find((condition) => condition.type === type);
    const isSame = last?.status === words.status;
    return {
      type,
      status: words.status,
      lastHeartbeatTime: now,
      lastTransitionTime: (isSame ? last?.lastTransitionTime : undefined) ?? now,
      reason: words.reason,
      message: words.message,
    };
  });
  // Conditions of others stay where they are; Ready is the last of ours.
  return [...before.filter(({ type }) => !ours.some((one) => one.type === type)), ...ours];
}

/** What to tell of the step from one list of conditions to the next. */
export function conditionEvents(health: NodeHealth, before: readonly NodeCondition[], nodeName: string): readonly ConditionEvent[] {
  return Object.entries(wordsOf(health)).flatMap(([type, words]) => {
    const last = before.find((condition) => condition.type === type);
    if (last?.status === words.status || (last === undefined && type === 'Ready')) return [];
    return [{ reason: words.event, message: `Node ${nodeName} status is now: ${words.event}` }];
  });
}

function wordsOf(health: NodeHealth): Readonly<Record<string, Words>> {
  const problems = health.problems.filter((problem) => problem !== '');
  const ready: Words =
    problems.length === 0
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status', event: 'NodeReady' }
      : { status: 'False', reason: 'KubeletNotReady', message: aggregated(problems), event: 'NodeNotReady' };
  return {
    MemoryPressure: pressure(
      health.memoryPressure,
      'InsufficientMemory',
      'SufficientMemory',
      'insufficient memory available',
      'sufficient memory available',
    ),
    DiskPressure: pressure(health.diskPressure, 'DiskPressure', 'NoDiskPressure', 'disk pressure', 'no disk pressure'),
    PIDPressure: pressure(health.pidPressure, 'InsufficientPID', 'SufficientPID', 'insufficient PID available', 'sufficient PID available'),
    Ready: ready,
  };
}

function pressure(is: boolean, badReason: string, goodReason: string, bad: string, good: string): Words {
  const reason = is ? badReason : goodReason;
  return { status: is ? 'True' : 'False', reason: `KubeletHas${reason}`, message: `kubelet has ${is ? bad : good}`, event: `NodeHas${reason}` };
}

/** Several errors as upstream joins them. */
function aggregated(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
}
