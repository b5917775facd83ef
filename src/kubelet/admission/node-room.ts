import type { Pod } from '#api/types/core-v1.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import type { NodeRoomPort, RoomAnswer } from '../ports/node-room.ts';
import type { PodResizer } from '../resources/resize/pod-resizer.ts';
import { sizesOf, withSizes } from '../resources/resize/sizes.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import type { AdmittingNode, Refusal } from './admission-input.ts';
import { type Admission, admitPod } from './admit-pod.ts';
import { planPreemption } from './preemption.ts';
import type { Shortage } from './resources.ts';

export interface NodeRoomDeps {
  /** `undefined` until the node knows itself. */
  readonly node: () => AdmittingNode | undefined;
  /** Reads the Node from the API once more. */
  readonly refreshNode: (signal: AbortSignal) => Promise<void>;
  readonly allowedSysctls: readonly string[];
  /** Puts pods out and waits until nothing of them runs. */
  /** @param resource that is short */
  readonly preempt: (victims: readonly Pod[], resource: string, signal: AbortSignal) => Promise<void>;
  /** Whether the pod's object is gone: what is left of the pod is on its way out and holds up nobody. Upstream's rule. */
  readonly isGone: (podUid: string) => boolean;
  readonly resizes: Pick<PodResizer, 'recall' | 'settle' | 'counted' | 'roomChanged' | 'forget'>;
  readonly allocations?: Pick<AllocationsPort, 'allocate' | 'release'> | undefined;
}

/** Asked before anything is given to a pod. */
const beforeAllocation: ReadonlySet<string> = new Set(['Evicted', 'SysctlForbidden', 'InvalidNodeInfo']);

type Answer = { readonly admitted: true } | (Refusal & { readonly admitted: false });

/** Who holds room on the node, and how much. Kept in memory: after a restart all pods are asked again, in the order of their creation. */
export class NodeRoom implements NodeRoomPort {
  readonly #deps: NodeRoomDeps;
  /** With the sizes that they were given. */
  readonly #admitted = new Map<string, Pod>();
  /** Answers to pods that ran before we came: what they have has to be read first, and nobody younger may take it meanwhile. */
  readonly #recalls = new Set<Promise<Answer>>();

  constructor(deps: NodeRoomDeps) {
    this.#deps = deps;
  }

  async admit(pod: Pod, observed: PodRuntimeState, signal: AbortSignal): Promise<RoomAnswer> {
    if (!this.holds(pod.metadata.uid)) {
      const alreadyRuns = observed.sandboxes.length + observed.containers.length > 0;
      const answer = await (alreadyRuns ? this.#letInAgain(pod, observed, signal) : this.#letInNew(pod, signal));
      if (!answer.admitted) return { admitted: false, reason: answer.reason, message: answer.message };
    }
    return { admitted: true, pod: await this.#resize(pod, signal) };
  }

  holds(podUid: string): boolean {
    return this.#admitted.has(podUid);
  }

  /** The pod with what it was given; `undefined`: it has no room. */
  held(podUid: string): Pod | undefined {
    return this.#admitted.get(podUid);
  }

  release(podUid: string): void {
    this.#deps.allocations?.release(podUid);
    this.#deps.resizes.forget(podUid);
    if (this.#admitted.delete(podUid)) this.#deps.resizes.roomChanged();
  }

  async #letInAgain(pod: Pod, observed: PodRuntimeState, signal: AbortSignal): Promise<Answer> {
    const recall = async () => this.#letIn(await this.#deps.resizes.recall(pod, observed, signal), true, signal);
    const answer = recall();
    this.#recalls.add(answer);
    try {
      return await answer;
    } finally {
      this.#recalls.delete(answer);
    }
  }

  async #letInNew(pod: Pod, signal: AbortSignal): Promise<Answer> {
    if (this.#recalls.size > 0) await Promise.allSettled([...this.#recalls]);
    return await this.#letIn(pod, false, signal);
  }

  async #letIn(pod: Pod, alreadyRuns: boolean, signal: AbortSignal): Promise<Answer> {
    let fits = this.#ask(pod, alreadyRuns);
    if (!fits.admitted && fits.nodeMayBeStale) {
      await this.#deps.refreshNode(signal);
      fits = this.#ask(pod, alreadyRuns);
    }
    if (!fits.admitted && !beforeAllocation.has(fits.reason)) {
      // Upstream gives devices and CPUs first: when it cannot, that is the reason that people know.
      const given = await this.#allocate(pod, signal);
      if (!given.admitted) return given;
    }
    const answer = fits.admitted || fits.lacks.length === 0 ? fits : await this.#makeRoom(pod, fits.lacks, signal);
    if (answer.admitted) return await this.#allocate(pod, signal);
    this.#deps.allocations?.release(pod.metadata.uid);
    return answer;
  }

  /** What is wished for may be more, or less, than what was given. @returns the pod as it may be now */
  async #resize(pod: Pod, signal: AbortSignal): Promise<Pod> {
    const { uid } = pod.metadata;
    const now = withSizes(pod, sizesOf(this.#admitted.get(uid) ?? pod));
    this.#admitted.set(uid, now);
    try {
      const fit = (wish: Pod): Refusal | undefined => {
        const answer = this.#ask(wish, true);
        return answer.admitted ? undefined : answer;
      };
      return await this.#deps.resizes.settle(pod, now, fit, signal);
    } catch (error) {
      if (this.holds(uid)) this.#admitted.set(uid, now); // what could not be remembered was not given
      throw error;
    }
  }

  #ask(pod: Pod, alreadyRuns: boolean): Admission {
    const { node: nodeOf, resizes, allowedSysctls } = this.#deps;
    const node = nodeOf();
    if (node === undefined) {
      return { admitted: false, reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.', nodeMayBeStale: true, lacks: [] };
    }
    const otherPods = this.#present()
      .filter(({ metadata }) => metadata.uid !== pod.metadata.uid)
      .map((other) => resizes.counted(other));
    const answer = admitPod({ pod, node, otherPods, allowedSysctls, alreadyRuns });
    if (answer.admitted) this.#admitted.set(pod.metadata.uid, pod); // in the same turn: nobody can take the room between question and answer
    return answer;
  }

  #present(): readonly Pod[] {
    return [...this.#admitted.values()].filter(({ metadata }) => !this.#deps.isGone(metadata.uid));
  }

  async #makeRoom(pod: Pod, lacks: readonly Shortage[], signal: AbortSignal): Promise<Answer> {
    const plan = planPreemption(pod, this.#present(), lacks);
    if (plan.kind === 'impossible') {
      const message = `Unexpected error while attempting to recover from admission failure: ${plan.message}`;
      return { admitted: false, reason: 'UnexpectedAdmissionError', message };
    }
    this.#admitted.set(pod.metadata.uid, pod); // what the others leave is for this one
    await this.#deps.preempt(plan.victims, lacks[0]?.resource ?? '', signal);
    return { admitted: true };
  }

  async #allocate(pod: Pod, signal: AbortSignal): Promise<Answer> {
    const answer = (await this.#deps.allocations?.allocate(pod, signal)) ?? { admitted: true };
    if (!answer.admitted) this.#admitted.delete(pod.metadata.uid);
    return answer;
  }
}
