import assert from 'node:assert/strict';
import type { Pod, Probe } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { ProbeKind } from '../../ports/probes.ts';
import type { ContainerRecord, PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import type { Hold } from '../../runtime/runtime-cache.ts';
import { createProbeManager, type ProbedPods, type ProbeManager } from '../probe-manager.ts';

export const uid = 'u1';
export const exec = { exec: { command: ['check'] } };

/** A pod whose one container has these probes. */
export function aPod(probes: { startup?: Probe; readiness?: Probe; liveness?: Probe }, options: { sidecar?: boolean; deleting?: boolean } = {}): Pod {
  const { startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe } = probes;
  const container = { name: 'c', startupProbe, readinessProbe, livenessProbe };
  const deletionTimestamp = options.deleting === true ? '2030-01-01T00:00:00Z' : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid, resourceVersion: '1', creationTimestamp: '', deletionTimestamp },
    spec: options.sidecar === true ? { containers: [], initContainers: [{ ...container, restartPolicy: 'Always' }] } : { containers: [container] },
  };
}

/** One pod in a runtime whose containers are started, ended, and answer probes as the test says. */
export class World implements ProbedPods {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly changes: string[] = [];
  readonly askedAtMs: number[] = [];
  /** Exit codes of the next probes; the last one repeats. `hang`: no answer. */
  answers: (number | 'hang')[] = [0];
  readonly manager: ProbeManager;
  /** Of the containers that are started from now on; it is the clock's unless a test says otherwise. */
  startedAtMs: number | undefined;
  /** Of every container. */
  hold: Hold | undefined;
  readonly #startMs = this.clock.now();
  #state: PodRuntimeState = { uid, namespace: 'ns', name: 'p', sandboxes: [], containers: [] };
  #listener: (podUid: string) => void = () => undefined;

  constructor() {
    this.manager = createProbeManager({
      pods: this,
      clock: this.clock,
      logger: silentLogger,
      random: () => 0.5,
      hostIp: '192.0.2.1',
      version: '1.36',
      events: { emit: (pod, event) => this.events.push(`${pod.name} ${event.fieldPath} ${event.reason}: ${event.message}`) },
      runtime: {
        execSync: (_id, _command, _timeout, signal) => {
          this.askedAtMs.push(this.clock.now() - this.#startMs);
          const answer = (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? 0;
          if (answer === 'hang') return new Promise((_, reject) => onAbort(signal, () => reject(reasonOf(signal))));
          return Promise.resolve({ exitCode: answer, stdout: Buffer.from('out'), stderr: new Uint8Array() });
        },
      },
      probers: { httpGet: () => assert.fail(), tcpConnect: () => assert.fail(), grpcHealth: () => assert.fail() },
    });
    this.manager.subscribe((_, id, kind) => this.changes.push(`${id} ${kind} ${this.manager.result(id, kind)}`));
  }

  get(): PodRuntimeState {
    return this.#state;
  }

  holdOf(): Hold | undefined {
    return this.hold;
  }

  ownerOf(containerId: string): string | undefined {
    return this.#state.containers.some(({ id }) => id === containerId) ? uid : undefined;
  }

  subscribe(listener: (podUid: string) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  async container(id: string, phase: ContainerRecord['phase']): Promise<void> {
    const known = this.#state.containers.find((one) => one.id === id);
    const record = { ...(known ?? { id, name: 'c', startedAtMs: this.startedAtMs ?? this.clock.now() }), phase } as ContainerRecord; // what probes look at
    this.#state = { ...this.#state, containers: [record, ...this.#state.containers.filter((one) => one.id !== id)] };
    this.#listener(uid);
    await this.clock.advance(0);
  }

  result(kind: ProbeKind, id = 'a'): unknown {
    return this.manager.result(id, kind);
  }
}

/** The container `a` of the pod runs. */
export async function running(pod: Pod, answers: (number | 'hang')[] = [0]): Promise<World> {
  const world = new World();
  world.answers = answers;
  world.manager.ensure(pod);
  await world.container('a', 'running');
  return world;
}
