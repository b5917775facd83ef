import type { AllocationRefusal } from './provider.ts';

/** Of everything that has no reason of its own. Upstream's words. */
export function unexpected(problem: string): AllocationRefusal {
  return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${problem}, which is unexpected` };
}
