import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { objectKey } from '#api/object.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import { Backoff } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { TaskGroup } from '#base/task-group.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import { type MirrorPlan, planMirror } from './mirror-plan.ts';

export interface MirrorPodsDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tasks: TaskGroup;
  /** As the API server has it. */
  readonly node: () => Node | undefined;
  readonly isEnding: (namespace: string, name: string) => boolean;
  readonly isReady: () => boolean;
}

const retry = { baseMs: 200, maxMs: 20_000, forgetAfterMs: 60_000 };
const requestMs = 30_000;

/** Keeps the mirrors of the node's static pods in the API. Nothing of a pod waits for it. */
export class MirrorPods {
  readonly #deps: MirrorPodsDeps;
  readonly #pods = new Map<string, Pod>();
  readonly #mirrors = new Map<string, Pod>();
  /** Names that are worked on; true: there is news. */
  readonly #busy = new Map<string, boolean>();
  readonly #backoff: Backoff;

  constructor(deps: MirrorPodsDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(retry, deps.clock);
  }

  staticSeen(pod: Pod): void {
    this.#pods.set(objectKey(pod.metadata), pod);
    this.look(objectKey(pod.metadata));
  }

  staticGone({ metadata }: Pod): void {
    const key = objectKey(metadata);
    if (this.#pods.get(key)?.metadata.uid === metadata.uid) this.#pods.delete(key);
    this.look(key);
  }

  mirrorSeen(mirror: Pod): void {
    this.#mirrors.set(objectKey(mirror.metadata), mirror);
    this.look(objectKey(mirror.metadata));
  }

  mirrorGone({ metadata }: Pod): void {
    const key = objectKey(metadata);
    if (this.#mirrors.get(key)?.metadata.uid === metadata.uid) this.#mirrors.delete(key);
    this.look(key);
  }

  /** Something that all depend on has changed: the node, who ends, what is ready. */
  lookAtAll(): void {
    for (const key of new Set([...this.#pods.keys(), ...this.#mirrors.keys()])) this.look(key);
  }

  /** @param key `namespace/name` */
  look(key: string): void {
    if (this.#busy.has(key)) {
      this.#busy.set(key, true);
      return;
    }
    if (this.#planFor(key).kind === 'nothing') return;
    this.#busy.set(key, false);
    this.#deps.tasks.run(`mirror of ${key}`, (signal) => this.#work(key, signal));
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    try {
      for (let plan = this.#planFor(key); plan.kind !== 'nothing' && !signal.aborted; plan = this.#planFor(key)) {
        this.#busy.set(key, false);
        try {
          await this.#carryOut(key, plan, signal);
          this.#backoff.forget(key);
          if (this.#busy.get(key) !== true) break; // what was done comes back through the informer
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof AppError)) throw error;
          logger.warn('the mirror of a static pod cannot be kept', { pod: key, code: error.code, error: messageOf(error) });
          await clock.sleep(this.#backoff.advance(key), signal);
        }
      }
    } finally {
      const hasNews = this.#busy.get(key) === true;
      this.#busy.delete(key);
      if (hasNews && !signal.aborted) this.look(key);
    }
  }

  async #carryOut(key: string, plan: Exclude<MirrorPlan, { kind: 'nothing' }>, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#deps;
    const [namespace = '', name = ''] = key.split('/');
    await withDeadline(`mirror of ${key}`, requestMs, clock, signal, async (inner) => {
      if (plan.kind === 'create') {
        await client.create(podKind, plan.mirror, inner).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error; // the informer will show what is there
        });
        return;
      }
      const options = { gracePeriodSeconds: 0, preconditions: { uid: plan.uid } };
      await client.delete(podKind, { namespace, name }, options, inner).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    });
  }

  #planFor(key: string): MirrorPlan {
    const { node, isEnding, isReady } = this.#deps;
    const [namespace = '', name = ''] = key.split('/');
    return planMirror({
      pod: this.#pods.get(key),
      mirror: this.#mirrors.get(key),
      isEnding: isEnding(namespace, name),
      node: node(),
      isReady: isReady(),
    });
  }
}
