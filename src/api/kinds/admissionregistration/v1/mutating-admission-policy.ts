import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { type FieldProblem, notSupported, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { paramKindColumn } from '#api/registration/columns.ts';
import { defaultMatchResources } from '#api/registration/defaults.ts';
import { validateChoice } from '#api/rules/checks.ts';
import { validateFailurePolicy, validateMatchConstraints, validateParamKind, validateVariables } from '#api/rules/registration/policies.ts';
import { validateMatchConditions } from '#api/rules/registration/rules.ts';
import { reinvocationPolicies } from '#api/rules/registration/webhooks.ts';
import type { MatchResources, MutatingAdmissionPolicy, Mutation } from '#api/types/admissionregistration-v1.ts';

/** Nothing else carries an object that could be changed. */
const operations = ['CREATE', 'UPDATE'];
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];

export const mutatingAdmissionPolicy = defineKind<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  scope: 'Cluster',
  message: 'admissionregistration.v1.MutatingAdmissionPolicy',
  categories: ['api-extensions'],
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  columns: [
    nameColumn,
    column('Mutations', { type: 'integer', description: 'How many changes it makes.', cell: ({ spec }) => (spec?.mutations ?? []).length }),
    paramKindColumn,
    ageColumn,
  ],
  setDefaults: (policy) =>
    changePart(policy, 'spec', (spec) => changePart(fill(spec, { failurePolicy: 'Fail' }), 'matchConstraints', defaultMatchResources)),
  validate: ({ spec = {} }) => [
    ...validateFailurePolicy(spec.failurePolicy, 'spec.failurePolicy'),
    ...(spec.paramKind === undefined ? [] : validateParamKind(spec.paramKind, 'spec.paramKind')),
    ...validateMatchConstraints(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateOperations(spec.matchConstraints?.resourceRules ?? [], 'spec.matchConstraints.resourceRules'),
    ...validateMatchConditions(spec.matchConditions ?? [], 'spec.matchConditions'),
    ...validateVariables(spec.variables ?? [], 'spec.variables'),
    ...validateMutations(spec.mutations ?? [], 'spec.mutations'),
    ...validateChoice(spec.reinvocationPolicy, reinvocationPolicies, 'spec.reinvocationPolicy'),
  ],
});

function validateOperations(rules: NonNullable<MatchResources['resourceRules']>, field: string): readonly FieldProblem[] {
  return rules.flatMap(({ operations: given = [] }, index) =>
    given.flatMap((operation, place) =>
      operations.includes(operation) ? [] : [notSupported(`${field}[${index}].operations[${place}]`, operation, operations)],
    ),
  );
}

function validateMutations(mutations: readonly Mutation[], field: string): readonly FieldProblem[] {
  if (mutations.length === 0) return [required(field, 'mutations must contain at least one item')];
  return mutations.flatMap(({ patchType = '', applyConfiguration, jsonPatch }, index) => {
    const at = `${field}[${index}]`;
    const problems = validateChoice(patchType, patchTypes, `${at}.patchType`);
    if (problems.length > 0) return problems;
    const [name, part] = patchType === 'JSONPatch' ? (['jsonPatch', jsonPatch] as const) : (['applyConfiguration', applyConfiguration] as const);
    if (part === undefined) return [required(`${at}.${name}`, `must be specified when patchType is ${patchType}`)];
    return (part.expression ?? '').trim() === '' ? [required(`${at}.${name}.expression`, 'expression is not specified')] : [];
  });
}
