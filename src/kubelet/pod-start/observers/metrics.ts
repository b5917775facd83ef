import { Counter, Histogram, type Registry } from 'prom-client';
import type { TransitionListener } from '#startup/transition.ts';

/** How long steps take and what they wait for. The values of the labels are few: names of steps, outcomes and declared reasons. */
export function metricsObserver(registry: Registry): TransitionListener {
  const seconds = new Histogram({
    name: 'pod_start_step_seconds',
    help: 'Duration of one run of a start-up step',
    labelNames: ['step', 'outcome'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [registry],
  });
  const blocked = new Counter({
    name: 'pod_start_blocked_total',
    help: 'Runs of a start-up step that ended in a wait or a refusal',
    labelNames: ['step', 'reason'],
    registers: [registry],
  });
  return ({ step, direction, state, tookMs }) => {
    if (direction === 'stop' || state.kind === 'started') return;
    seconds.observe({ step, outcome: state.kind }, tookMs / 1000);
    if (state.kind === 'waiting' || state.kind === 'rejected') blocked.inc({ step, reason: state.reason });
  };
}
