import type { ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { durationText } from './duration.ts';
import type { PodStartup, PullProgress, StepRecord } from './pod-startup.ts';
import type { WakeKey } from './transition.ts';

/** What a pod is doing or waits for, for a person. */
export interface Explanation {
  /** Nothing is wrong and nothing is waited for. */
  readonly isSettled: boolean;
  /** The box of the picture: `scheduler`, a step's name, `containers`. */
  readonly box: string;
  readonly lines: readonly string[];
}

/** From here on it is worth a word that a pull gets no bytes. */
const quietMs = 5000;

/** What people can try for the reasons that a container waits with. */
const containerMends: Readonly<Record<string, string>> = {
  CrashLoopBackOff: 'read the container’s last words with `kubectl logs --previous`, mend the program or its command',
  ErrImagePull: 'check the image’s name and that its registry can be reached; without a registry, load it with `kubernode image load`',
  ImagePullBackOff: 'check the image’s name and that its registry can be reached; without a registry, load it with `kubernode image load`',
  ErrImageNeverPull: 'load the image with `kubernode image load`, or set imagePullPolicy: IfNotPresent',
  InvalidImageName: 'correct the image’s name in the pod’s spec',
  CreateContainerConfigError: 'create the ConfigMap or Secret that the message names, or correct the reference',
  CreateContainerError: 'read the runtime’s message: the spec asks for something that the runtime cannot make',
  RunContainerError: 'check that the command exists in the image and may be executed',
};

/**
 * Says what the pod is doing, since when, what it waits for, and what to do about it.
 *
 * @param record the pod's start-up record; `undefined` when nobody has one
 */
export function explain(pod: Pod, record: PodStartup | undefined, nowMs: number): Explanation {
  const name = `pod ${pod.metadata.namespace}/${pod.metadata.name}`;
  if (pod.metadata.deletionTimestamp !== undefined) return explainDeletion(name, pod);
  const phase = pod.status?.phase ?? 'Pending';
  if (phase === 'Succeeded') return { isSettled: true, box: 'status', lines: [`${name} has Succeeded`] };
  if (phase === 'Failed') return explainFailure(name, pod);
  if (!pod.spec?.nodeName) return explainUnscheduled(name, pod, nowMs);
  const stuck = record?.steps.find((step) => step.phase === 'waiting' || step.phase === 'failed' || step.phase === 'rejected');
  const container = statusesOf(pod).find((status) => status.state?.waiting?.reason !== undefined && isTrouble(status.state.waiting.reason));
  // The container's own status says more than its step, and does not wait for the node's next batch.
  if (container !== undefined && (stuck === undefined || stuck.name.endsWith('containers'))) return explainContainer(name, container);
  if (stuck !== undefined) return explainStep(name, stuck, nowMs);
  return isReady(pod) ? { isSettled: true, box: 'status', lines: [`${name} is Running and Ready`] } : explainProgress(name, pod, record, nowMs);
}

function explainDeletion(name: string, pod: Pod): Explanation {
  const finalizers = pod.metadata.finalizers ?? [];
  const grace = pod.metadata.deletionGracePeriodSeconds;
  const lines = [`${name} is being deleted since ${pod.metadata.deletionTimestamp}${grace === undefined ? '' : `, with ${grace} s of grace`}`];
  if (finalizers.length > 0) lines.push(`it waits for the finalizers ${finalizers.join(', ')}: whoever set them must take them away`);
  return { isSettled: false, box: 'containers', lines };
}

function explainFailure(name: string, pod: Pod): Explanation {
  const { reason, message } = pod.status ?? {};
  const ended = statusesOf(pod).flatMap((status) => {
    const end = status.state?.terminated;
    return end === undefined || end.exitCode === 0
      ? []
      : [`container ${status.name} ended with exit code ${end.exitCode}${end.reason ? ` (${end.reason})` : ''}`];
  });
  const said = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  return { isSettled: false, box: said === '' ? 'containers' : 'admit', lines: [`${name} has Failed${said === '' ? '' : `: ${said}`}`, ...ended] };
}

function explainUnscheduled(name: string, pod: Pod, nowMs: number): Explanation {
  const condition = pod.status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  const since = condition?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  const waited = durationText(Math.max(0, nowMs - Date.parse(since)));
  if (condition === undefined)
    return { isSettled: false, box: 'scheduler', lines: [`${name} waits for the scheduler since ${waited}`, 'try: `kubernode status`'] };
  return {
    isSettled: false,
    box: 'scheduler',
    lines: [
      `${name} waits in the scheduler since ${waited}: ${condition.reason ?? 'Unschedulable'}: ${condition.message ?? ''}`,
      'it is tried again when a node or another pod changes',
      'try: ask for less, change the node selector or tolerations, or make room',
    ],
  };
}

function explainStep(name: string, step: StepRecord, nowMs: number): Explanation {
  const since = durationText(Math.max(0, nowMs - (step.sinceMs ?? step.startedAtMs)));
  const verb = step.phase === 'waiting' ? 'waits' : step.phase === 'failed' ? 'fails' : 'was rejected';
  const lines = [`${name} ${verb} in step ${step.name} (${step.title}) since ${since}: ${step.reason ?? ''}: ${step.detail ?? ''}`];
  if (step.wakeOn !== undefined && step.wakeOn.length > 0) lines.push(`it goes on when ${step.wakeOn.map(wakeText).join(', or ')}`);
  lines.push(`tried ${step.attempts} ${step.attempts === 1 ? 'time' : 'times'}${nextTryText(step, nowMs)}`);
  if (step.meaning !== undefined) lines.push(`it means: ${step.meaning}`);
  if (step.mend !== undefined) lines.push(`try: ${step.mend}`);
  return { isSettled: false, box: step.name, lines };
}

function nextTryText(step: StepRecord, nowMs: number): string {
  if (step.nextTryAtMs === undefined) return '';
  return `, again within ${durationText(Math.max(1, step.nextTryAtMs - nowMs))} at the latest`;
}

function wakeText(key: WakeKey): string {
  switch (key.kind) {
    case 'object':
      return `${key.ref} appears or changes`;
    case 'runtime':
      return 'the container runtime reports a change';
    case 'volume':
      return `volume ${key.name} is mounted`;
    case 'image':
      return `image ${key.ref} is there`;
    case 'network':
      return 'the node’s network is ready';
    case 'time':
      return 'its time has come';
  }
}

function explainContainer(name: string, status: ContainerStatus): Explanation {
  const { reason = '', message = '' } = status.state?.waiting ?? {};
  const last = status.lastState?.terminated;
  const lines = [`${name}: container ${status.name} waits: ${reason}${message === '' ? '' : `: ${message}`}`];
  if (last !== undefined)
    lines.push(`it ended last with exit code ${last.exitCode}${last.reason ? ` (${last.reason})` : ''} at ${last.finishedAt ?? 'an unknown time'}`);
  if (status.restartCount > 0) lines.push(`restarted ${status.restartCount} ${status.restartCount === 1 ? 'time' : 'times'}`);
  const mend = containerMends[reason];
  if (mend !== undefined) lines.push(`try: ${mend}`);
  return { isSettled: false, box: 'containers', lines };
}

function explainProgress(name: string, pod: Pod, record: PodStartup | undefined, nowMs: number): Explanation {
  const running = record?.steps.find((step) => step.phase === 'running');
  if (running !== undefined) {
    const took = nowMs - running.startedAtMs;
    const slow = took > running.slowAfterMs ? `, which is unusual: it takes less than ${durationText(running.slowAfterMs)} as a rule` : '';
    return {
      isSettled: false,
      box: running.name,
      lines: [
        `${name} is in step ${running.name} (${running.title}) since ${durationText(Math.max(0, took))}${slow}`,
        ...(record?.pulls ?? []).map((pull) => pullText(pull, nowMs)),
      ],
    };
  }
  const waiting = statusesOf(pod).find((status) => !status.ready && status.state?.terminated?.exitCode !== 0);
  if (waiting === undefined) return { isSettled: false, box: 'status', lines: [`${name} is ${pod.status?.phase ?? 'Pending'}`] };
  const what = waiting.state?.running === undefined ? 'has not started yet' : 'runs but is not ready: its readiness probe has not succeeded';
  return { isSettled: false, box: 'containers', lines: [`${name}: container ${waiting.name} ${what}`] };
}

function pullText({ image, bytes, totalBytes, layers, layersDone, changedAtMs, otherPulls }: PullProgress, nowMs: number): string {
  const others = otherPulls === 0 ? '' : `, together with ${otherPulls} other ${otherPulls === 1 ? 'pull' : 'pulls'}`;
  const stillMs = nowMs - changedAtMs;
  const still = stillMs < quietMs ? '' : `; nothing came for ${durationText(stillMs)}`;
  const amount = `${(bytes / 1e6).toFixed(1)} of ${(totalBytes / 1e6).toFixed(1)} MB`;
  return `it pulls image ${image}: ${amount}, ${layersDone} of ${layers} layers done so far${others}${still}`;
}

function statusesOf(pod: Pod): readonly ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function isTrouble(reason: string): boolean {
  return reason !== 'ContainerCreating' && reason !== 'PodInitializing';
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
}
