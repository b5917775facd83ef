import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, Pod, PodStatus, Probe } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { ProbeCounts } from '../metrics/probe-metrics.ts';
import type { EventsPort } from '../ports/events.ts';
import type { ProbersPort } from '../ports/probers.ts';
import type { ProbeKind, ProbeResult, ProbesPort } from '../ports/probes.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { newestOf, type PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import type { Hold } from '../runtime/runtime-cache.ts';
import { type ContainerView, ProbeWorker } from './probe-worker.ts';
import { type ProbeOutcome, runProbe } from './run-probe.ts';

/** The pods as the runtime has them: the kubelet's `RuntimeCache`. */
export interface ProbedPods {
  get(podUid: string): PodRuntimeState | undefined;
  /** Pod of a container. */
  ownerOf(containerId: string): string | undefined;
  /** A container whose start hook is not over is not asked. */
  holdOf?(podUid: string, container: string): Hold | undefined;
  /** Called after each change of a pod; the result unsubscribes. */
  subscribe(listener: (podUid: string) => void): () => void;
}

export interface ProbeManagerOptions {
  readonly pods: ProbedPods;
  readonly runtime: Pick<RuntimePort, 'execSync'>;
  readonly probers: ProbersPort;
  readonly events: EventsPort;
  readonly counts?: ProbeCounts;
  /** Where pods with the host's network are probed. */
  readonly hostIp: string;
  /** Of the Kubernetes that we claim to be, for the user agent: `1.36`. */
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1 */
  readonly random: () => number;
}

export interface ProbeManager extends ProbesPort {
  /** Ends all probes. May be called twice. */
  close(): Promise<void>;
}

/** Probes the containers that run; it follows the runtime by itself, so that a new container is asked at once. */
export function createProbeManager(options: ProbeManagerOptions): ProbeManager {
  return new Manager(options);
}

type Listener = (podUid: string, containerId: string, kind: ProbeKind) => void;

interface ProbedContainer {
  readonly spec: Container;
  readonly fieldPath: string;
  readonly isSidecar: boolean;
  readonly workers: ReadonlyMap<ProbeKind, ProbeWorker>;
}

interface ProbedPod {
  /** The newest one that is known. */
  pod: Pod;
  /** As it was told when we first heard of the pod: after a restart of the kubelet that is what the one before knew. */
  readonly toldBefore: PodStatus | undefined;
  readonly containers: readonly ProbedContainer[];
}

class Manager implements ProbeManager {
  readonly #options: ProbeManagerOptions;
  readonly #pods = new Map<string, ProbedPod>();
  readonly #listeners = new Set<Listener>();
  readonly #tasks: TaskGroup;
  readonly #unsubscribe: () => void;
  /** Epoch. */
  readonly #startedAtMs: number;

  constructor(options: ProbeManagerOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#tasks = new TaskGroup((what, error) => options.logger.error('a probe broke', { what, error: messageOf(error) }));
    this.#unsubscribe = options.pods.subscribe((podUid) => this.#look(podUid));
  }

  ensure(pod: Pod): void {
    const known = this.#pods.get(pod.metadata.uid);
    if (known === undefined) this.#pods.set(pod.metadata.uid, this.#probed(pod));
    else known.pod = pod; // which probes there are cannot change
    this.#look(pod.metadata.uid);
    for (const { workers } of known?.containers ?? []) workers.get('readiness')?.hurry(); // something happened to the pod: it may be ready by now
  }

  stopRestarting(podUid: string): void {
    for (const { isSidecar, workers } of this.#pods.get(podUid)?.containers ?? []) {
      if (isSidecar) continue;
      workers.get('liveness')?.stop();
      workers.get('startup')?.stop();
    }
  }

  remove(podUid: string): void {
    const known = this.#pods.get(podUid);
    for (const { workers } of known?.containers ?? []) for (const worker of workers.values()) worker.stop();
    this.#pods.delete(podUid);
    if (known !== undefined) this.#options.counts?.gone(known.pod);
  }

  result(containerId: string, kind: ProbeKind): ProbeResult | undefined {
    const podUid = this.#options.pods.ownerOf(containerId) ?? '';
    this.#look(podUid); // whoever asks may have heard of the container before we did
    for (const { workers } of this.#pods.get(podUid)?.containers ?? []) {
      const result = workers.get(kind)?.resultOf(containerId);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    for (const podUid of [...this.#pods.keys()]) this.remove(podUid);
    await this.#tasks.close();
  }

  #look(podUid: string): void {
    const state = this.#options.pods.get(podUid);
    if (state === undefined) return;
    for (const { spec, workers } of this.#pods.get(podUid)?.containers ?? []) {
      const record = newestOf(state, spec.name);
      if (record === undefined || record.startedAtMs === 0 || record.phase === 'unknown') continue;
      if (this.#options.pods.holdOf?.(podUid, spec.name) === 'starting') continue;
      const view: ContainerView = { id: record.id, isRunning: record.phase === 'running', startedAtMs: record.startedAtMs };
      for (const worker of workers.values()) worker.see(view); // startup is the first: the others look at its result
    }
  }

  #probed(pod: Pod): ProbedPod {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const sidecars = initContainers.filter(isSidecar);
    const probed: ProbedPod = {
      pod,
      toldBefore: pod.status,
      containers: [
        ...sidecars.map((spec) => this.#container(spec, `spec.initContainers{${spec.name}}`, true, () => probed)),
        ...containers.map((spec) => this.#container(spec, `spec.containers{${spec.name}}`, false, () => probed)),
      ],
    };
    return probed;
  }

  #container(spec: Container, fieldPath: string, sidecar: boolean, podOf: () => ProbedPod): ProbedContainer {
    const workers = new Map<ProbeKind, ProbeWorker>();
    const container: ProbedContainer = { spec, fieldPath, isSidecar: sidecar, workers };
    const probes: readonly (readonly [ProbeKind, Probe | undefined])[] = [
      ['startup', spec.startupProbe],
      ['readiness', spec.readinessProbe],
      ['liveness', spec.livenessProbe],
    ];
    for (const [kind, probe] of probes) if (probe !== undefined) workers.set(kind, this.#worker(kind, probe, container, podOf));
    return container;
  }

  #worker(kind: ProbeKind, probe: Probe, container: ProbedContainer, podOf: () => ProbedPod): ProbeWorker {
    return new ProbeWorker(kind, probe, {
      clock: this.#options.clock,
      ask: async (view, signal) => {
        const target = { container: container.spec, containerId: view.id, podIp: this.#podIp(podOf().pod.metadata.uid) };
        const userAgent = `kube-probe/${this.#options.version}`;
        const startedAt = this.#options.clock.monotonic();
        const outcome = await runProbe(probe, target, { ...this.#options, userAgent }, signal);
        const tookMs = this.#options.clock.monotonic() - startedAt;
        if (this.#pods.has(podOf().pod.metadata.uid)) this.#options.counts?.probed(podOf().pod, container.spec.name, kind, outcome.kind, tookMs);
        return outcome;
      },
      hasStarted: () => {
        const startup = container.workers.get('startup');
        return startup === undefined || startup.lastResult === 'success';
      },
      wasGood: (view) => this.#wasGood(podOf(), container.spec.name, view, kind),
      firstDelayMs: ({ startedAtMs }, periodMs) => this.#firstDelayMs(startedAtMs, periodMs),
      isDeleting: () => podOf().pod.metadata.deletionTimestamp !== undefined,
      onOutcome: (outcome) => this.#tell(podOf().pod, container.fieldPath, kind, outcome),
      onResult: (containerId, result) => {
        if (kind === 'startup' && result === 'success') for (const worker of container.workers.values()) worker.wake();
        for (const listener of [...this.#listeners]) listener(podOf().pod.metadata.uid, containerId, kind);
      },
      run: (task) => this.#tasks.run(`${kind} probe of container ${container.spec.name}`, task),
    });
  }

  /** What runs through a restart of the kubelet does not become unready by that. */
  #wasGood({ toldBefore }: ProbedPod, name: string, { id, startedAtMs }: ContainerView, kind: ProbeKind): boolean {
    if (startedAtMs >= this.#startedAtMs || kind === 'liveness') return false;
    const all = [...(toldBefore?.containerStatuses ?? []), ...(toldBefore?.initContainerStatuses ?? [])];
    const told = all.find((status) => status.name === name && status.containerID?.endsWith(`://${id}`) === true);
    return (kind === 'startup' ? told?.started : told?.ready) === true;
  }

  /** A kubelet that comes back finds everything running: it does not ask all of it in the same moment. */
  #firstDelayMs(startedAtMs: number, periodMs: number): number {
    const { clock, random } = this.#options;
    const isComingBack = startedAtMs < this.#startedAtMs && periodMs > clock.now() - this.#startedAtMs;
    return isComingBack ? random() * periodMs : 0;
  }

  #podIp(podUid: string): string {
    const sandbox = this.#options.pods.get(podUid)?.sandboxes.find(({ ready }) => ready);
    return (sandbox?.hostNetwork === true ? undefined : sandbox?.ips?.[0]) ?? this.#options.hostIp;
  }

  #tell(pod: Pod, fieldPath: string, kind: ProbeKind, outcome: ProbeOutcome): void {
    const words = eventOf(kind, outcome);
    if (words === undefined) return;
    const { uid, namespace = '', name } = pod.metadata;
    this.#options.events.emit({ uid, namespace, name }, { type: 'Warning', ...words, fieldPath });
  }
}

/** One event for each time that is not a plain success, as upstream has it. */
function eventOf(kind: ProbeKind, outcome: ProbeOutcome): { readonly reason: string; readonly message: string } | undefined {
  const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} probe`;
  switch (outcome.kind) {
    case 'success':
      return undefined;
    case 'success-with-warning':
      return { reason: 'ProbeWarning', message: `${title} warning: ${outcome.output}` };
    case 'failure':
      return { reason: 'Unhealthy', message: `${title} failed: ${outcome.output}` };
    case 'error':
      return { reason: 'Unhealthy', message: `${title} errored and resulted in unknown state: ${outcome.text}` };
  }
}
