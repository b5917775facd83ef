import type { Pod } from '#api/types/core-v1.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import type { NodeRoomPort, RoomAnswer } from '../ports/node-room.ts';
import type { AdmittingNode } from './admission-input.ts';
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
  readonly preempt: (victims: readonly Pod[], signal: AbortSignal) => Promise<void>;
  readonly allocations?: Pick<AllocationsPort, 'allocate' | 'release'> | undefined;
}

/** Who holds room on the node. Kept in memory: after a restart all pods are asked again, in the order of their creation. */
export class NodeRoom implements NodeRoomPort {
  readonly #deps: NodeRoomDeps;
  readonly #admitted = new Map<string, Pod>();

  constructor(deps: NodeRoomDeps) {
    this.#deps = deps;
  }

  async admit(pod: Pod, alreadyRuns: boolean, signal: AbortSignal): Promise<RoomAnswer> {
    const { uid } = pod.metadata;
    if (this.#admitted.has(uid)) {
      this.#admitted.set(uid, pod);
      return { admitted: true };
    }
    let fits = this.#ask(pod, alreadyRuns);
    if (!fits.admitted && fits.nodeMayBeStale) {
      await this.#deps.refreshNode(signal);
      fits = this.#ask(pod, alreadyRuns);
    }
    const answer = fits.admitted || fits.lacks.length === 0 ? fits : await this.#makeRoom(pod, fits.lacks, signal);
    return answer.admitted ? await this.#allocate(pod, signal) : { admitted: false, reason: answer.reason, message: answer.message };
  }

  holds(podUid: string): boolean {
    return this.#admitted.has(podUid);
  }

  release(podUid: string): void {
    this.#admitted.delete(podUid);
    this.#deps.allocations?.release(podUid);
  }

  #ask(pod: Pod, alreadyRuns: boolean): Admission {
    const node = this.#deps.node();
    if (node === undefined) {
      return { admitted: false, reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.', nodeMayBeStale: true, lacks: [] };
    }
    const answer = admitPod({ pod, node, otherPods: [...this.#admitted.values()], allowedSysctls: this.#deps.allowedSysctls, alreadyRuns });
    if (answer.admitted) this.#admitted.set(pod.metadata.uid, pod); // in the same turn: nobody can take the room between question and answer
    return answer;
  }

  async #makeRoom(pod: Pod, lacks: readonly Shortage[], signal: AbortSignal): Promise<RoomAnswer> {
    const plan = planPreemption(pod, [...this.#admitted.values()], lacks);
    if (plan.kind === 'impossible') {
      const message = `Unexpected error while attempting to recover from admission failure: ${plan.message}`;
      return { admitted: false, reason: 'UnexpectedAdmissionError', message };
    }
    this.#admitted.set(pod.metadata.uid, pod); // what the others leave is for this one
    await this.#deps.preempt(plan.victims, signal);
    return { admitted: true };
  }

  async #allocate(pod: Pod, signal: AbortSignal): Promise<RoomAnswer> {
    const answer = (await this.#deps.allocations?.allocate(pod, signal)) ?? { admitted: true };
    if (!answer.admitted) this.#admitted.delete(pod.metadata.uid);
    return answer;
  }
}
