import { isSidecar, sidecarsOf } from '#api/pod/sidecars.ts';
import type { ContainerStatus, Pod, PodCondition } from '#api/types/core-v1.ts';
import type { StatusExtras } from '../ports/status-extras.ts';
import type { ContainerStatuses, Phase } from './phase.ts';

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message' | 'observedGeneration'>;

export interface ConditionInput {
  readonly pod: Pod;
  readonly phase: Phase;
  readonly statuses: ContainerStatuses;
  /** What the pod was put out for; set only with the end of the pod. */
  readonly disruption?: string | undefined;
  /** Why containers cannot be started; `undefined`: a sandbox is there that can be used as it is. */
  readonly withoutSandbox: { readonly reason: string; readonly message: string } | undefined;
  /** `undefined`: nothing in the pod may ask for a restart of all. */
  readonly restartsAll: boolean | undefined;
  /** Conditions that other parts of the kubelet keep. */
  readonly extra: ReturnType<StatusExtras['conditionsOf']>;
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
  const { withoutSandbox, disruption, restartsAll, phase } = input;
  return [
    make('PodReadyToStartContainers', withoutSandbox === undefined ? { status: 'True' } : { status: 'False', ...endOr(phase, withoutSandbox) }),
    make('Initialized', initialisedOf(input)),
    make('Ready', readyOf(input, containersReady)),
    make('ContainersReady', containersReady),
    make('PodScheduled', { status: 'True' }),
    ...(restartsAll === undefined ? [] : [make('AllContainersRestarting', restartingOf(phase, restartsAll))]),
    ...input.extra.map(({ type, ...verdict }) => make(type, verdict)),
    ...(disruption === undefined ? [] : [make('DisruptionTarget', { status: 'True', reason: 'TerminationByKubelet', message: disruption })]),
  ];
}

/** Ours: upstream gives no reason there, and a pod that hangs for want of a sandbox then says nothing at all. */
function endOr(phase: Phase, otherwise: { readonly reason: string; readonly message: string }): Pick<PodCondition, 'reason' | 'message'> {
  if (phase === 'Succeeded') return { reason: 'PodCompleted' };
  return phase === 'Failed' ? { reason: 'PodFailed' } : otherwise;
}

function restartingOf(phase: Phase, restartsAll: boolean): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (!restartsAll) return { status: 'False' };
  return { status: 'True', reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' };
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
