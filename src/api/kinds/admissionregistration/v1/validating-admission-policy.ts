import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import type { FieldProblem } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { paramKindColumn } from '#api/registration/columns.ts';
import { defaultMatchResources } from '#api/registration/defaults.ts';
import { validateFailurePolicy, validateMatchConstraints, validateParamKind, validateVariables } from '#api/rules/registration/policies.ts';
import { validateMatchConditions } from '#api/rules/registration/rules.ts';
import { validateChecks, validatePolicyStatus } from '#api/rules/registration/validations.ts';
import type { ValidatingAdmissionPolicy } from '#api/types/admissionregistration-v1.ts';

export const validatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  scope: 'Cluster',
  message: 'admissionregistration.v1.ValidatingAdmissionPolicy',
  categories: ['api-extensions'],
  subresources: ['status'],
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  columns: [
    nameColumn,
    column('Validations', {
      type: 'integer',
      description: 'How many rules it has.',
      cell: ({ spec }) => (spec?.validations ?? []).length,
    }),
    paramKindColumn,
    ageColumn,
  ],
  setDefaults: (policy) =>
    changePart(policy, 'spec', (spec) => changePart(fill(spec, { failurePolicy: 'Fail' }), 'matchConstraints', defaultMatchResources)),
  validate: validatePolicy,
  validateStatusUpdate: ({ status = {} }) => validatePolicyStatus(status, 'status'),
});

function validatePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): readonly FieldProblem[] {
  return [
    ...validateFailurePolicy(spec.failurePolicy, 'spec.failurePolicy'),
    ...(spec.paramKind === undefined ? [] : validateParamKind(spec.paramKind, 'spec.paramKind')),
    ...validateMatchConstraints(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateMatchConditions(spec.matchConditions ?? [], 'spec.matchConditions'),
    ...validateVariables(spec.variables ?? [], 'spec.variables'),
    ...validateChecks(spec.validations ?? [], spec.auditAnnotations ?? [], metadata.name, 'spec'),
  ];
}
