import { InvalidInput } from '#base/errors.ts';

/** The patch can be read, but not applied to this object: a `test` failed, a path is missing. API servers answer 422 instead of 400. */
export class PatchDoesNotApply extends InvalidInput {}

/** The patch contradicts the rules of its own lists. API servers answer 500 without a reason. */
export class PatchIsContradictory extends InvalidInput {}
