import type { Logger } from '#base/log.ts';
import type { TransitionListener } from '#startup/transition.ts';

/** A line for each end of a step that is not simply done; everything else only for those who debug. */
export function logObserver(logger: Logger): TransitionListener {
  return ({ namespace, name, step, direction, state, tookMs }) => {
    if (state.kind === 'started') return;
    const fields = { pod: `${namespace}/${name}`, step, direction, tookMs: Math.round(tookMs * 10) / 10 };
    if (state.kind === 'done') logger.debug('step done', fields);
    else if (state.kind === 'failed')
      logger.debug('step failed', { ...fields, code: state.code }); // its text is logged by who retries it
    else logger.info(`step ${state.kind}`, { ...fields, reason: state.reason, detail: state.detail });
  };
}
