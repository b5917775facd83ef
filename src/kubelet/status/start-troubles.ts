import type { TransitionListener } from '#startup/transition.ts';

/** Why a pod's start does not go on, in the words of a condition. */
export interface StartTrouble {
  readonly reason: string;
  readonly message: string;
}

/** Remembers of each pod the step that it hangs at; the same words go into its events. */
export class StartTroubles {
  readonly #troubles = new Map<string, StartTrouble & { readonly step: string }>();

  get(podUid: string): StartTrouble | undefined {
    const trouble = this.#troubles.get(podUid);
    return trouble === undefined ? undefined : { reason: trouble.reason, message: trouble.message };
  }

  forget(podUid: string): void {
    this.#troubles.delete(podUid);
  }

  readonly observe: TransitionListener = ({ podUid, step, direction, state }) => {
    if (direction === 'stop') return this.forget(podUid);
    switch (state.kind) {
      case 'started':
        return;
      case 'done':
        if (this.#troubles.get(podUid)?.step === step) this.forget(podUid);
        return;
      case 'waiting':
      case 'rejected':
        this.#troubles.set(podUid, { step, reason: state.reason, message: state.detail });
        return;
      case 'failed':
        this.#troubles.set(podUid, { step, reason: camelCase(state.code), message: state.detail });
        return;
    }
  };
}

/** Codes of errors are in capitals, reasons of conditions are not. */
function camelCase(code: string): string {
  return code.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
