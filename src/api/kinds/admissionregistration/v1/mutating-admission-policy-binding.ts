import { changePart } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { bindingColumns } from '#api/registration/columns.ts';
import { defaultMatchResources } from '#api/registration/defaults.ts';
import { validateBinding } from '#api/rules/registration/policies.ts';
import type { MutatingAdmissionPolicyBinding } from '#api/types/admissionregistration-v1.ts';

export const mutatingAdmissionPolicyBinding = defineKind<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  scope: 'Cluster',
  message: 'admissionregistration.v1.MutatingAdmissionPolicyBinding',
  categories: ['api-extensions'],
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  columns: bindingColumns,
  setDefaults: (binding) => changePart(binding, 'spec', (spec) => changePart(spec, 'matchResources', defaultMatchResources)),
  validate: ({ spec = {} }) => validateBinding(spec, 'spec'),
});
