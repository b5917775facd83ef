import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { WatchEvent } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import { Channel } from '#base/channel.ts';
import { TaskGroup } from '#base/task-group.ts';
import { durationText } from '#startup/duration.ts';
import { type PodStartup, podStartups, type StepRecord } from '#startup/pod-startup.ts';
import type { CliContext, Connection } from './context.ts';

export type StartOutcome = 'ready' | 'succeeded' | 'failed' | 'deleted';

export interface FollowedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** How long the record of a pod that is Ready is waited for. */
const recordWithinMs = 2000;
const lastStep = 'status';

type News =
  | { readonly kind: 'enough' }
  | { readonly kind: 'pod'; readonly event: WatchEvent<Pod> }
  | { readonly kind: 'record'; readonly event: WatchEvent<PodStartup> };

/**
 * Tells each step of a pod's start as it happens, until the pod is Ready, has ended, or is gone, and its record is whole. The record comes
 * in batches and may be late, or may never come from a kubelet that is not ours: it is waited for a little, the pod is not held up by it.
 *
 * @throws {DeadlineExceeded} after `timeoutMs`
 */
export async function followStart(pod: FollowedPod, connection: Connection, timeoutMs: number, context: CliContext): Promise<StartOutcome> {
  const news = new Channel<News>();
  await using tasks = disposable(new TaskGroup((_, error) => news.close(error instanceof Error ? error : new Error(String(error)))));
  const options = { namespace: pod.namespace, fieldSelector: `metadata.name=${pod.name}` };
  tasks.run('watch the pod', async (signal) => {
    for await (const event of connection.client.watch(podKind, options, signal)) news.push({ kind: 'pod', event });
    news.close();
  });
  tasks.run('watch its start-up record', async (signal) => {
    for await (const event of connection.client.watch(podStartups, options, signal)) news.push({ kind: 'record', event });
  });
  const teller = new StepTeller(context);
  return await withDeadline(`the start of pod ${pod.namespace}/${pod.name}`, timeoutMs, context.clock, context.signal, async (signal) => {
    let outcome: StartOutcome | undefined;
    let isWhole = false;
    for await (const one of news.take(signal)) {
      if (one.kind === 'enough') break;
      if (one.event.type === 'BOOKMARK' || one.event.object.metadata.uid !== pod.uid) continue;
      if (one.kind === 'record') {
        teller.tell(one.event.object);
        isWhole = one.event.object.steps.some((step) => step.name === lastStep && step.doneAtMs !== undefined);
      } else if (outcome === undefined) {
        outcome = outcomeOf(one.event.object, one.event.type);
        if (outcome !== undefined) context.clock.after(recordWithinMs, () => news.push({ kind: 'enough' }));
      }
      if (outcome !== undefined && (isWhole || outcome !== 'ready')) break;
    }
    return outcome ?? 'deleted';
  });
}

function outcomeOf(pod: Pod, type: WatchEvent<Pod>['type']): StartOutcome | undefined {
  if (type === 'DELETED') return 'deleted';
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  if (pod.status?.phase === 'Failed') return 'failed';
  return pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ? 'ready' : undefined;
}

/** Tells a step once when it is done, and each new reason to wait. */
class StepTeller {
  readonly #told = new Set<string>();
  readonly #context: CliContext;

  constructor(context: CliContext) {
    this.#context = context;
  }

  tell(record: PodStartup): void {
    for (const step of record.steps) {
      const line = lineOf(step);
      const key = `${step.name} ${step.doneAtMs === undefined ? `${step.phase} ${step.reason} ${step.detail}` : 'done'}`;
      if (line === undefined || this.#told.has(key)) continue;
      this.#told.add(key);
      this.#context.tell(line);
    }
  }
}

function lineOf(step: StepRecord): string | undefined {
  if (step.doneAtMs !== undefined) return `  ${step.name.padEnd(16)} ${durationText(step.tookMs).padStart(9)}`;
  if (step.phase === 'running' || step.reason === undefined) return undefined;
  return `  ${step.name.padEnd(16)} ${step.phase}: ${step.reason}: ${step.detail ?? ''}${step.mend === undefined ? '' : `\n${' '.repeat(19)}try: ${step.mend}`}`;
}

function disposable(tasks: TaskGroup): TaskGroup & AsyncDisposable {
  return Object.assign(tasks, { [Symbol.asyncDispose]: () => tasks.close() });
}
