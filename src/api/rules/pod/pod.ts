import type { FieldProblem } from '#api/field-problem.ts';
import type { Pod } from '#api/types/core-v1.ts';

export function validatePod(_pod: Pod): readonly FieldProblem[] {
  return [];
}
