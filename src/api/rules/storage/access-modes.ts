import { type FieldProblem, forbidden, notSupported } from '#api/field-problem.ts';
import { accessModes } from '#api/storage/access-modes.ts';

/** @param modes at least one */
export function validateAccessModes(modes: readonly string[], field: string): readonly FieldProblem[] {
  const known = modes.filter((mode) => accessModes.some((name) => name === mode));
  const problems: FieldProblem[] = modes.filter((mode) => !known.includes(mode)).map((mode) => notSupported(field, mode, accessModes));
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod')) {
    problems.push(forbidden(field, 'may not use ReadWriteOncePod with other access modes'));
  }
  return problems;
}
