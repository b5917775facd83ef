import type { StartReason } from '../ports/pod-runtime.ts';

export interface StartFailure {
  readonly reason: StartReason;
  readonly message: string;
}

/** Why containers do not run: the last failed start of each, until one succeeds. Read by the pod's status. */
export class ReasonCache {
  readonly #failures = new Map<string, Map<string, StartFailure>>();

  set(podUid: string, container: string, failure: StartFailure): void {
    const ofPod = this.#failures.get(podUid) ?? new Map<string, StartFailure>();
    ofPod.set(container, failure);
    this.#failures.set(podUid, ofPod);
  }

  clear(podUid: string, container: string): void {
    this.#failures.get(podUid)?.delete(container);
  }

  get(podUid: string, container: string): StartFailure | undefined {
    return this.#failures.get(podUid)?.get(container);
  }

  forget(podUid: string): void {
    this.#failures.delete(podUid);
  }
}
