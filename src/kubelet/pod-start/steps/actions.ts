import { computeActions } from '../../runtime/compute-actions.ts';
import type { ActionsFact, PodFacts } from '../facts.ts';
import type { Step } from '../step.ts';

/** Decides what to kill, create and start. Nothing else happens here. */
export const actions: Step<PodFacts, ActionsFact, never> = {
  name: 'actions',
  title: 'Decide what to do',
  reads: ['pod', 'observed', 'verdicts'],
  writes: ['actions'],
  slowAfterMs: 50,
  reasons: {},
  async run(_pod, { pod, observed, verdicts }) {
    return { kind: 'done', writes: { actions: computeActions(pod, observed, verdicts) } };
  },
};
