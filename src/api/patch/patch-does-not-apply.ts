import { InvalidInput } from '#base/errors.ts';

/** The patch can be read, but not applied to this object: a `test` failed, a path is missing. API servers answer 422 instead of 400. */
export class PatchDoesNotApply extends InvalidInput {}
