import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import type { CrossVersionObjectReference } from '#api/types/autoscaling-v2.ts';
import { pathSegmentProblems } from '../names.ts';

/** An object that is named by its kind, in whatever version. */
export function validateReference(reference: Partial<CrossVersionObjectReference>, field: string): readonly FieldProblem[] {
  return (['kind', 'name'] as const).flatMap((key) => {
    const text = reference[key] ?? '';
    if (text === '') return [required(`${field}.${key}`)];
    return pathSegmentProblems(text).map((problem) => invalid(`${field}.${key}`, text, problem));
  });
}
