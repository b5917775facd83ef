import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { actions } from './actions.ts';

stepLaws('actions', () => {
  const { ref, pod, observed } = new StepWorld();
  return { step: actions, pod: ref, facts: { pod, observed, verdicts: () => undefined } };
});
