import type { Clock } from '#base/clock.ts';
import type { TransitionListener } from '#startup/transition.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { AnyStep } from '../step.ts';

/** The same thing is not told again within this time: a pod that waits is looked at often. */
const quietMs = 10_000;

/** A Kubernetes event for each wait and refusal whose reason has one; the words are those of the step. */
export function eventsObserver(steps: readonly AnyStep[], events: EventsPort, clock: Clock): TransitionListener {
  const docs = new Map(steps.map((step) => [step.name, step.reasons]));
  const told = new Map<string, { readonly what: string; readonly atMs: number }>();
  return ({ podUid, namespace, name, step, direction, state }) => {
    if (direction === 'stop') {
      told.delete(podUid);
      return;
    }
    if (state.kind !== 'waiting' && state.kind !== 'rejected') return;
    const doc = docs.get(step)?.[state.reason];
    if (doc?.event === undefined) return;
    const what = `${step} ${state.reason} ${state.detail}`;
    const last = told.get(podUid);
    if (last?.what === what && clock.monotonic() - last.atMs < quietMs) return;
    told.set(podUid, { what, atMs: clock.monotonic() });
    const reason = (state.kind === 'rejected' ? state.word : undefined) ?? doc.event;
    events.emit({ uid: podUid, namespace, name }, { type: doc.severity, reason, message: state.detail });
  };
}
