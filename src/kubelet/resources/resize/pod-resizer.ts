import { qosClass } from '#api/pod/qos.ts';
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '#api/types/core-v1.ts';
import type { Clock, Timer } from '#base/clock.ts';
import type { ResizeAsked, ResizeFigures } from '../../metrics/resize-metrics.ts';
import type { CgroupsPort } from '../../ports/cgroups.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import type { StatusExtras } from '../../ports/status-extras.ts';
import { refOf } from '../../runtime/pod-ref.ts';
import { type ContainerRecord, newestOf, type PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import type { NodeCgroupOptions } from '../cgroup-options.ts';
import { podSizeStatus } from './pod-size-status.ts';
import { ResizeRun } from './resize-run.ts';
import { type InfeasibleFacts, infeasible, resizeJson } from './resize-texts.ts';
import type { SizeRecords } from './size-records.ts';
import { areSameSizes, isSameSize, largerSize, sizeOf, sizesOf, withSize, withSizes } from './sizes.ts';

export interface PodResizerDeps {
  readonly records: SizeRecords;
  readonly cgroups: Pick<CgroupsPort, 'read' | 'ensure' | 'memoryUsageBytes'>;
  readonly runtime: Pick<RuntimePort, 'updateContainerResources' | 'updatePodSandboxResources'>;
  readonly options: Pick<NodeCgroupOptions, 'pod' | 'container' | 'isPerQos'>;
  readonly facts: InfeasibleFacts;
  readonly events: EventsPort;
  /** The pod as it was let in, with what it was given. */
  readonly heldPod: (podUid: string) => Pod | undefined;
  readonly observe: (podUid: string) => PodRuntimeState | undefined;
  readonly wake: (podUid: string) => void;
  readonly asked?: ResizeAsked | undefined;
  readonly clock: Clock;
  readonly timing: { readonly errorRetryMs: number; readonly deferredRetryMs: number };
}

interface Pending {
  readonly pod: Pod;
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  readonly sinceMs: number;
}

interface Progress {
  readonly generation: number | undefined;
  /** Found at the start of the kubelet: nobody is told unless there is something to do. */
  readonly isQuiet: boolean;
  readonly error: string | undefined;
}

/** Why a pod does not fit as it wants to be; upstream's words. */
export interface ResizeRefusal {
  readonly reason: string;
  readonly message: string;
}

// desired (spec) --room--> allocated (held by the room, remembered on disk) --cgroups, runtime, restarts--> actual (what containers have)
//       `-- no room: Deferred, tried again when room comes; Infeasible: not tried again

/** Resizes of running pods: decided with the room of the node, done in the pod's `cgroups` step, told in its status. */
export class PodResizer implements StatusExtras {
  readonly #deps: PodResizerDeps;
  readonly #pending = new Map<string, Pending>();
  readonly #progress = new Map<string, Progress>();
  readonly #toRetry = new Set<string>();
  #timer: Timer | undefined;

  constructor(deps: PodResizerDeps) {
    this.#deps = deps;
  }

  get figures(): ResizeFigures {
    const pending = [...this.#pending.values()];
    const of = (reason: Pending['reason']) => pending.filter((one) => one.reason === reason).length;
    const inProgress = [...this.#progress.values()].filter(({ isQuiet }) => !isQuiet).length;
    return { deferred: of('Deferred'), infeasible: of('Infeasible'), inProgress };
  }

  /** The pod with what it was given before this kubelet came. */
  async recall(pod: Pod, observed: PodRuntimeState, signal: AbortSignal): Promise<Pod> {
    const { uid, generation } = pod.metadata;
    const sizes = await this.#deps.records.recall(pod, observed, signal);
    if (this.#deps.records.has(uid)) this.#progress.set(uid, { generation, isQuiet: true, error: undefined });
    return withSizes(pod, sizes);
  }

  /**
   * Gives the pod what it wants now, if it fits.
   *
   * @param desired the pod's newest object, `allocated` the same with what it was given
   * @param fit holds the room if there is some
   * @returns the pod with what it has been given
   */
  async settle(desired: Pod, allocated: Pod, fit: (pod: Pod) => ResizeRefusal | undefined, signal: AbortSignal): Promise<Pod> {
    const { uid, generation } = desired.metadata;
    this.#toRetry.delete(uid);
    if (desired === allocated) {
      this.#pending.delete(uid);
      return desired;
    }
    const never = infeasible(desired, allocated, this.#deps.facts);
    if (this.#pending.get(uid)?.pod.metadata.generation !== generation) this.#deps.asked?.(sizesOf(allocated), sizesOf(desired));
    const refusal = never === undefined ? fit(desired) : { reason: 'Infeasible', message: never };
    if (refusal !== undefined) {
      this.#pend(desired, never === undefined ? 'Deferred' : 'Infeasible', refusal);
      return allocated;
    }
    const isStarted = (this.#deps.observe(uid)?.containers.length ?? 0) > 0;
    const before = this.#progress.get(uid);
    this.#progress.set(uid, { generation, isQuiet: false, error: undefined }); // at once: a status told meanwhile must not look as if all were done
    try {
      await this.#deps.records.allocate(uid, sizesOf(desired), isStarted, signal);
    } catch (error) {
      if (before === undefined) this.#progress.delete(uid);
      else this.#progress.set(uid, before);
      throw error;
    }
    this.#pending.delete(uid);
    this.#tell(desired, 'Normal', 'ResizeStarted', `Pod resize started: ${resizeJson(desired)}`);
    return desired;
  }

  /** Brings what runs to what was given; what goes wrong is told and tried again, and holds up nothing else. */
  async apply(pod: Pod, observed: PodRuntimeState, cgroupPath: string, signal: AbortSignal): Promise<void> {
    const { uid } = pod.metadata;
    const progress = this.#progress.get(uid);
    if (progress === undefined) return;
    const run = new ResizeRun(this.#deps, pod, observed, cgroupPath);
    try {
      const outcome = await run.run(signal);
      if (outcome === 'restarts') {
        this.#progress.set(uid, { ...progress, isQuiet: false, error: undefined });
        return;
      }
      this.#progress.delete(uid);
      if (progress.isQuiet && outcome === 'nothing') return;
      this.#tell(pod, 'Normal', 'ResizeCompleted', `Pod resize completed: ${resizeJson(pod)}`);
      this.roomChanged(); // a pod that shrank may have made room
    } catch (error) {
      if (signal.aborted) throw error;
      const text = error instanceof Error ? error.message : String(error);
      if (progress.error !== text) this.#tell(pod, 'Warning', 'ResizeError', `Pod resize error: ${resizeJson(pod, text)}`);
      this.#progress.set(uid, { ...progress, isQuiet: false, error: text });
      this.#deps.clock.after(this.#deps.timing.errorRetryMs, () => this.#deps.wake(uid));
    }
  }

  /** Whether the pod's list must be run although its spec and its containers ask for nothing. */
  needsSync(podUid: string): boolean {
    return this.#progress.has(podUid) || this.#toRetry.has(podUid);
  }

  /** The same state with what its containers have now. */
  observed(state: PodRuntimeState): PodRuntimeState {
    return this.#deps.records.observed(state);
  }

  /** As it counts for others: while it shrinks it still has what it had. */
  counted(pod: Pod): Pod {
    const { uid } = pod.metadata;
    const state = this.#progress.has(uid) ? this.#deps.observe(uid) : undefined;
    if (state === undefined) return pod;
    const sizes = sizesOf(pod);
    const containers = Object.entries(sizes.containers).map(([name, size]) => {
      const record = newestOf(state, name);
      const actual = record?.phase === 'running' ? this.#deps.records.actualOf(uid, record) : undefined;
      return [name, actual === undefined ? size : largerSize(size, actual)] as const;
    });
    return withSizes(pod, { ...sizes, containers: Object.fromEntries(containers) });
  }

  /** Somebody left, or got smaller: who waits for room is asked again, those that shrink and those that matter most first. */
  roomChanged(): void {
    const waiting = [...this.#pending].filter(([, { reason }]) => reason === 'Deferred').sort(([, a], [, b]) => this.#order(a, b));
    for (const [uid] of waiting) this.#toRetry.add(uid);
    for (const [uid] of waiting) this.#deps.wake(uid);
  }

  forget(podUid: string): void {
    this.#pending.delete(podUid);
    this.#progress.delete(podUid);
    this.#toRetry.delete(podUid);
    this.#deps.records.forget(podUid);
  }

  close(): void {
    this.#timer?.cancel();
  }

  resourcesOf(pod: Pod, { name }: Container, record: ContainerRecord): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
    const { spec } = this.#deps.heldPod(pod.metadata.uid) ?? pod;
    const given = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name)?.resources;
    const actual = record.phase === 'running' ? this.#deps.records.actualOf(pod.metadata.uid, record) : undefined;
    const { requests } = given ?? {};
    const resources = withSize(given, actual ?? sizeOf(given));
    return { resources, ...(requests === undefined || Object.keys(requests).length === 0 ? {} : { allocatedResources: requests }) };
  }

  podResourcesOf(pod: Pod, previous: PodStatus | undefined): Pick<PodStatus, 'resources' | 'allocatedResources'> {
    const { uid } = pod.metadata;
    const isUnderWay = this.#progress.get(uid)?.isQuiet === false && previous?.phase === 'Running';
    return podSizeStatus(this.#deps.heldPod(uid) ?? pod, isUnderWay ? previous?.resources : undefined);
  }

  conditionsOf(pod: Pod): readonly Pick<PodCondition, 'type' | 'status' | 'reason' | 'message' | 'observedGeneration'>[] {
    const { uid } = pod.metadata;
    const pending = this.#pending.get(uid);
    const progress = this.#progress.get(uid) ?? (pending === undefined ? this.#undecided(pod) : undefined);
    const generation = (value: number | undefined) => (value === undefined ? {} : { observedGeneration: value });
    return [
      ...(pending === undefined
        ? []
        : [
            {
              type: 'PodResizePending',
              status: 'True',
              reason: pending.reason,
              message: pending.message,
              ...generation(pending.pod.metadata.generation),
            },
          ]),
      ...(progress === undefined || progress.isQuiet
        ? []
        : [
            {
              type: 'PodResizeInProgress',
              status: 'True',
              ...(progress.error === undefined ? {} : { reason: 'Error', message: progress.error }),
              ...generation(progress.generation),
            },
          ]),
    ];
  }

  /** Whoever sees that the kubelet knows the newest sizes must see as well that the pod does not have them yet. */
  #undecided(pod: Pod): Progress | undefined {
    const held = this.#deps.heldPod(pod.metadata.uid);
    if (held === undefined || areSameSizes(sizesOf(pod), sizesOf(held))) return undefined;
    return { generation: pod.metadata.generation, isQuiet: false, error: undefined };
  }

  #pend(pod: Pod, reason: Pending['reason'], refusal: ResizeRefusal): void {
    const { uid, generation } = pod.metadata;
    const before = this.#pending.get(uid);
    const told = pod.status?.conditions?.find(({ type }) => type === 'PodResizePending'); // by a kubelet before this one
    const isKnown =
      before === undefined
        ? told?.reason === reason && told.observedGeneration === generation
        : before.reason === reason && before.pod.metadata.generation === generation;
    this.#pending.set(uid, { pod, reason, message: refusal.message, sinceMs: before?.sinceMs ?? this.#deps.clock.now() });
    if (!isKnown) this.#tell(pod, 'Warning', `Resize${reason}`, `Pod resize ${refusal.reason}: ${resizeJson(pod)}`);
    if (reason === 'Deferred') this.#retryLater();
  }

  #retryLater(): void {
    this.#timer ??= this.#deps.clock.after(this.#deps.timing.deferredRetryMs, () => {
      this.#timer = undefined;
      this.roomChanged();
    });
  }

  #order(a: Pending, b: Pending): number {
    const grows = ({ pod }: Pending) => {
      const held = this.#deps.heldPod(pod.metadata.uid);
      if (held === undefined) return 0;
      const [wanted, given] = [sizesOf(pod), sizesOf(held)];
      const isLarger = Object.entries(wanted.containers).some(([name, size]) => {
        const requests = { requests: size.requests, limits: {} };
        const before = { requests: given.containers[name]?.requests ?? {}, limits: {} };
        return !isSameSize(largerSize(before, requests), before);
      });
      return isLarger ? 1 : 0;
    };
    const rank = ({ pod }: Pending) => ['Guaranteed', 'Burstable', 'BestEffort'].indexOf(qosClass(pod));
    const priority = ({ pod }: Pending) => pod.spec?.priority ?? 0;
    return grows(a) - grows(b) || priority(b) - priority(a) || rank(a) - rank(b) || a.sinceMs - b.sinceMs;
  }

  #tell(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.events.emit(refOf(pod), { type, reason, message });
  }
}
