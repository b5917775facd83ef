import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { type FieldProblem, tooLong } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateDomainPrefixedPath } from '#api/rules/domain-prefixed-path.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateParameters } from '#api/rules/networking/ingress.ts';
import type { IngressClass } from '#api/types/networking-v1.ts';

export const ingressClass = defineKind<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  message: 'networking.v1.IngressClass',
  generation: 'spec',
  columns: [
    nameColumn,
    column('Controller', { description: 'Who serves the ingresses of this class.', cell: ({ spec }) => spec?.controller ?? '' }),
    column('Parameters', { description: 'More settings of the controller.', cell: parametersText }),
    ageColumn,
  ],
  setDefaults: (ingressClass) =>
    changePart(ingressClass, 'spec', (spec) => changePart(spec, 'parameters', (parameters) => fill(parameters, { scope: 'Cluster' }))),
  validate: ({ spec }) => [
    ...validateController(spec?.controller ?? '', 'spec.controller'),
    ...(spec?.parameters === undefined ? [] : validateParameters(spec.parameters, 'spec.parameters')),
  ],
  validateUpdate: (next, previous) => validateImmutable(next.spec?.controller, previous.spec?.controller, 'spec.controller'),
});

const controllerMaxBytes = 250;

function validateController(controller: string, field: string): readonly FieldProblem[] {
  const problems = validateDomainPrefixedPath(controller, field);
  return controller.length > controllerMaxBytes ? [tooLong(field, controllerMaxBytes), ...problems] : problems;
}

function parametersText({ spec }: IngressClass): string {
  if (spec?.parameters === undefined) return '<none>';
  const { apiGroup, kind, name } = spec.parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}
