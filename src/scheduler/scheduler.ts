import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { objectKey } from '#api/object.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import { createEventRecorder, type EventRecorder, referenceTo } from '#client/event-recorder.ts';
import type { Informer, ObjectChange } from '#client/informer-port.ts';
import { createSharedInformers, type SharedInformers } from '#client/shared-informers.ts';
import { timestamp } from '#client/timestamps.ts';
import { SchedulerCache } from './cache.ts';
import { decide } from './decide.ts';
import { podDemand } from './pod-demand.ts';
import { type UnscheduledReason, unscheduledPatch } from './pod-scheduled.ts';
import { asksForSomethingElse, isFinished, mayHelpWaitingPods, wantsNode } from './relevant-change.ts';
import { defaultQueueTimings, type QueuedPod, type QueueTimings, SchedulingQueue } from './scheduling-queue.ts';

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods of other schedulers are left alone. */
  readonly schedulerName?: string | undefined;
  readonly timings?: Partial<QueueTimings> | undefined;
  /** Given where others in the process watch pods and nodes too; their owner runs them. */
  readonly informers?: SharedInformers | undefined;
  /** Told of each step of a pod on its way to a node. Must not throw. */
  readonly observe?: ((step: SchedulingStep) => void) | undefined;
}

export type SchedulingStep =
  | { readonly kind: 'seen'; readonly pod: Pod; readonly atMs: number }
  | { readonly kind: 'assigned' | 'bound'; readonly pod: Pod; readonly nodeName: string; readonly atMs: number }
  | { readonly kind: 'unscheduled'; readonly pod: Pod; readonly reason: UnscheduledReason; readonly message: string; readonly atMs: number };

/** Bindings on their way at the same time. */
const MAX_BINDINGS = 64;

/** Finds a node for every pod without one, until the signal is aborted. */
export async function runScheduler(client: Client, options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  const informers = options.informers ?? createSharedInformers(client, options);
  const tasks = new TaskGroup((what, error) => options.logger.error('a task failed', { what, error: messageOf(error) }));
  const events = createEventRecorder(client, { component: options.schedulerName ?? 'default-scheduler', ...options });
  const scheduler = new Scheduler(client, options, informers, events, tasks);
  tasks.run('events', (inner) => events.run(inner));
  if (options.informers === undefined) tasks.run('informers', (inner) => informers.run(inner));
  tasks.run('scheduler', (inner) => scheduler.start(inner));
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  scheduler.stop();
  await tasks.close();
}

class Scheduler {
  readonly #client: Client;
  readonly #options: SchedulerOptions;
  readonly #schedulerName: string;
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #events: EventRecorder;
  readonly #tasks: TaskGroup;
  readonly #cache = new SchedulerCache();
  readonly #queue: SchedulingQueue;
  readonly #subscriptions: (() => void)[] = [];
  #bindings = 0;
  #isReady = false;

  constructor(client: Client, options: SchedulerOptions, informers: SharedInformers, events: EventRecorder, tasks: TaskGroup) {
    this.#client = client;
    this.#options = options;
    this.#schedulerName = options.schedulerName ?? 'default-scheduler';
    this.#pods = informers.of(podKind);
    this.#nodes = informers.of(nodeKind);
    this.#events = events;
    this.#tasks = tasks;
    this.#queue = new SchedulingQueue(options.clock, { ...defaultQueueTimings, ...options.timings }, () => this.#schedule());
  }

  /** Nothing is decided before all pods and nodes are known: room would be given away twice. */
  async start(signal: AbortSignal): Promise<void> {
    this.#subscriptions.push(
      this.#nodes.subscribe((change) => this.#onNode(change)),
      this.#pods.subscribe((change) => this.#onPod(change)),
    );
    await Promise.all([this.#nodes.synced(signal), this.#pods.synced(signal)]);
    this.#isReady = true;
    this.#schedule();
  }

  stop(): void {
    this.#isReady = false;
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#queue.close();
  }

  #onNode(change: ObjectChange<Node>): void {
    if (change.type === 'deleted') {
      this.#cache.removeNode(change.object.metadata.name);
      return;
    }
    this.#cache.putNode(change.object);
    if (change.type === 'added' || mayHelpWaitingPods(change.object, change.previous)) this.#queue.wakeAll();
  }

  #onPod(change: ObjectChange<Pod>): void {
    const pod = change.object;
    const { uid } = pod.metadata;
    const nodeName = pod.spec?.nodeName ?? '';
    const isGone = change.type === 'deleted' || isFinished(pod);
    if (nodeName !== '' || isGone) this.#queue.remove(uid);
    if (isGone) {
      const tookRoom = this.#cache.has(uid);
      this.#cache.removePod(uid);
      if (tookRoom) this.#queue.wakeAll();
    } else if (nodeName !== '') {
      this.#cache.putPod(podDemand(pod), nodeName);
      if (change.type === 'updated' && this.#mayHaveShrunk(pod, change.previous)) this.#queue.wakeAll();
    } else if (!wantsNode(pod, this.#schedulerName)) this.#queue.remove(uid);
    else if (!this.#cache.has(uid)) this.#enqueue(change); // else its binding is on its way
  }

  #mayHaveShrunk(pod: Pod, previous: Pod): boolean {
    return (previous.spec?.nodeName ?? '') !== '' && asksForSomethingElse(pod, previous);
  }

  #enqueue(change: ObjectChange<Pod>): void {
    const isNews = change.type !== 'updated' || asksForSomethingElse(change.object, change.previous);
    if (change.type === 'added') this.#options.observe?.({ kind: 'seen', pod: change.object, atMs: this.#options.clock.now() });
    this.#queue.put(podDemand(change.object), isNews);
  }

  /** Tries the pods whose turn it is. Deciding never waits, so what is decided for one pod is known to the next. */
  #schedule(): void {
    while (this.#isReady && this.#bindings < MAX_BINDINGS) {
      const queued = this.#queue.pop();
      if (queued === undefined) return;
      const decision = decide(queued.demand, this.#cache.rooms());
      if (decision.kind === 'assigned') this.#assign(queued, decision.nodeName);
      else {
        this.#queue.rejected(queued);
        this.#tell(queued.demand.pod, 'Unschedulable', decision.message);
      }
    }
  }

  #assign(queued: QueuedPod, nodeName: string): void {
    const { pod } = queued.demand;
    this.#cache.assume(queued.demand, nodeName);
    this.#bindings += 1;
    this.#options.observe?.({ kind: 'assigned', pod, nodeName, atMs: this.#options.clock.now() });
    this.#tasks.run('bind', async (signal) => {
      try {
        await this.#bind(queued, nodeName, signal);
      } finally {
        this.#bindings -= 1;
        this.#schedule();
      }
    });
  }

  async #bind(queued: QueuedPod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { pod } = queued.demand;
    const { namespace, name, uid } = pod.metadata;
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    };
    try {
      await this.#client.createSubresource(podKind, pod.metadata, 'binding', binding, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#cache.forget(uid);
      this.#queue.wakeAll(); // the room that was taken is free again
      this.#unbound(queued, error);
      return;
    }
    this.#options.observe?.({ kind: 'bound', pod, nodeName, atMs: this.#options.clock.now() });
    this.#events.emit(referenceTo(pod), {
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
    });
  }

  #unbound(queued: QueuedPod, error: unknown): void {
    const latest = this.#pods.get(objectKey(queued.demand.pod.metadata));
    const isOurs = latest?.metadata.uid === queued.demand.pod.metadata.uid && wantsNode(latest, this.#schedulerName);
    if (!isOurs || isNotFound(error)) return;
    this.#queue.failed({ ...queued, demand: podDemand(latest) });
    this.#tell(latest, 'SchedulerError', `running Bind plugin "DefaultBinder": ${messageOf(error)}`);
  }

  #tell(pod: Pod, reason: UnscheduledReason, message: string): void {
    const nowMs = this.#options.clock.now();
    this.#options.observe?.({ kind: 'unscheduled', pod, reason, message, atMs: nowMs });
    this.#events.emit(referenceTo(pod), { type: 'Warning', reason: 'FailedScheduling', message });
    const patch = unscheduledPatch(pod, reason, message, timestamp(nowMs));
    if (patch === undefined) return;
    this.#tasks.run('condition', async (signal) => {
      try {
        await this.#client.patch(podKind, pod.metadata, 'strategic', patch, 'status', signal);
      } catch (error) {
        // The pod is tried again, and its condition written, anyway.
        if (!isNotFound(error))
          this.#options.logger.warn('the PodScheduled condition was not written', { pod: objectKey(pod.metadata), error: messageOf(error) });
      }
    });
  }
}
