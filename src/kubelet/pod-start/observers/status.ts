import type { TransitionListener } from '#startup/transition.ts';
import type { StatusPort } from '../../ports/status.ts';

/** A pod that stops in the middle needs a true status too, and on the way down more than anyone: told from here, whatever the step. */
export function statusObserver(status: StatusPort): TransitionListener {
  return ({ podUid: uid, namespace, name, step, direction, state }) => {
    const pod = { uid, namespace, name };
    switch (state.kind) {
      case 'started':
        return;
      case 'waiting':
      case 'rejected':
      case 'failed':
        return status.changed(pod, 'soon');
      case 'done':
        // With the addresses the pod is ready to start containers; without its containers it has ended.
        if (direction === 'start' ? step === 'cni' : step === 'containers') status.changed(pod, 'now');
        return;
    }
  };
}
