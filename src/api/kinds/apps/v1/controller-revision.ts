import { ageColumn, column, nameColumn } from '#api/column.ts';
import { type FieldProblem, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateNonNegative } from '#api/rules/workload.ts';
import type { ControllerRevision } from '#api/types/apps-v1.ts';

export const controllerRevision = defineKind<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  message: 'apps.v1.ControllerRevision',
  columns: [
    nameColumn,
    column('Controller', { description: 'What the revision is of.', cell: controllerText }),
    column('Revision', { type: 'integer', description: 'Which of the revisions it is.', cell: ({ revision }) => revision ?? 0 }),
    ageColumn,
  ],
  validate: validateRevision,
  validateUpdate: (next, previous) => validateImmutable(next.data, previous.data, 'data'),
});

function validateRevision({ data, revision }: ControllerRevision): readonly FieldProblem[] {
  return [...(data === undefined ? [required('data', 'data is mandatory')] : []), ...validateNonNegative(revision, 'revision')];
}

/** `statefulset.apps/web` */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
