import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { TransitionListener } from '#startup/transition.ts';

/** One listener that tells many; one that throws is logged and never touches the start. */
export function joinObservers(observers: Readonly<Record<string, TransitionListener>>, logger: Logger): TransitionListener {
  const all = Object.entries(observers);
  return (transition) => {
    for (const [observer, tell] of all) {
      try {
        tell(transition);
      } catch (error) {
        logger.error('an observer failed', { observer, step: transition.step, error: messageOf(error) });
      }
    }
  };
}
