import type { StatusPort } from '../../ports/status.ts';
import type { AddressFact, ContainerFact, InitFact } from '../facts.ts';
import type { Step } from '../step.ts';

/** Hands the state over to be told to the API server and is done: nobody waits for the acknowledgement. */
export const status = (port: StatusPort): Step<AddressFact & InitFact & ContainerFact, object, never> => ({
  name: 'status',
  title: 'Report the status',
  reads: ['podIPs', 'initStates', 'containerStates'],
  writes: [],
  slowAfterMs: 50,
  reasons: {},
  async run(pod) {
    port.changed(pod, 'now');
    return { kind: 'done', writes: {} };
  },
});
