import { isSidecar, sidecarsOf } from '#api/pod/sidecars.ts';
import type { ContainerStatus, Pod, PodCondition } from '#api/types/core-v1.ts';
import type { ContainerStatuses, Phase } from './phase.ts';

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

export interface ConditionInput {
  readonly pod: Pod;
  readonly phase: Phase;
  readonly statuses: ContainerStatuses;
  /** A sandbox is there that can be used as it is. */
  readonly sandboxIsThere: boolean;
  /** Every condition that the pod has, those of others too. */
  readonly previous: readonly PodCondition[];
  /** ISO, whole seconds. */
  readonly now: string;
}

/** The conditions that the kubelet owns, in upstream's order. A time changes only when its status does. */
export function conditions(input: ConditionInput): readonly PodCondition[] {
  const containersReady = containersReadyOf(input);
  const generation = input.pod.metadata.generation;
  const make = (type: string, verdict: Verdict): PodCondition => {
    const before = input.previous.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : input.now;
    return { type, ...(generation === undefined ? {} : { observedGeneration: generation }), ...verdict, lastTransitionTime };
  };
  return [
    make('PodReadyToStartContainers', { status: input.sandboxIsThere ? 'True' : 'False' }),
    make('Initialized', initialisedOf(input)),
    make('Ready', readyOf(input, containersReady)),
    make('ContainersReady', containersReady),
    make('PodScheduled', { status: 'True' }),
  ];
}

function initialisedOf({ pod, phase, statuses }: ConditionInput): Verdict {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const anyStarted = statuses.containers.some(({ state, lastState }) => (state?.running ?? state?.terminated ?? lastState?.terminated) !== undefined);
  if (anyStarted) return { status: 'True' };
  const incomplete = (pod.spec?.initContainers ?? []).filter((container) => {
    const status = statuses.init.find(({ name }) => name === container.name);
    return !(isSidecar(container) ? status?.started === true : status?.ready === true);
  });
  if (incomplete.length === 0) return { status: 'True' };
  const names = incomplete.map(({ name }) => name).join(' ');
  return { status: 'False', reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names}]` };
}

function containersReadyOf({ pod, phase, statuses }: ConditionInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const counted = [...sidecarsOf(pod), ...(pod.spec?.containers ?? [])];
  const all: readonly ContainerStatus[] = [...statuses.init, ...statuses.containers];
  const unready = counted.filter(({ name }) => all.find((status) => status.name === name)?.ready !== true);
  if (unready.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.map(({ name }) => name).join(' ')}]` };
}

function readyOf({ pod, previous }: ConditionInput, containersReady: Verdict): Verdict {
  if (containersReady.status !== 'True') return containersReady;
  const problems = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = previous.find(({ type }) => type === conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return gate.status === 'True' ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  return problems.length === 0 ? { status: 'True' } : { status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}
