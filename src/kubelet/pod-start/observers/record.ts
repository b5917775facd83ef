import type { StepDoc } from '#startup/record.ts';
import type { AnyStep } from '../step.ts';

/** What the start-up record says about a step, from its definition. The record itself is a reader of the transitions as they are. */
export function describeSteps(steps: readonly AnyStep[]): (step: string) => StepDoc {
  const docs = new Map<string, StepDoc>(steps.map((step) => [step.name, step]));
  return (name) => docs.get(name) ?? { title: name, slowAfterMs: Number.POSITIVE_INFINITY, reasons: {} };
}
