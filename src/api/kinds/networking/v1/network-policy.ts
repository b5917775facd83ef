import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { labelSelectorText } from '#api/label-selector-print.ts';
import { networkPolicyWarnings, validateNetworkPolicy } from '#api/rules/networking/network-policy.ts';
import type { NetworkPolicy, NetworkPolicyPort, NetworkPolicySpec } from '#api/types/networking-v1.ts';

export const networkPolicy = defineKind<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
  message: 'networking.v1.NetworkPolicy',
  shortNames: ['netpol'],
  generation: 'spec',
  columns: [
    nameColumn,
    column('Pod-Selector', {
      description: 'Labels of the pods that it is about.',
      cell: ({ spec }) => labelSelectorText(spec?.podSelector) || '<none>',
    }),
    ageColumn,
  ],
  setDefaults: (policy) => {
    const spec = defaultSpec(policy.spec ?? {});
    return spec === policy.spec ? policy : { ...policy, spec };
  },
  warnings: networkPolicyWarnings,
  validateCreate: (policy) => validateNetworkPolicy(policy, undefined),
  validateUpdate: validateNetworkPolicy,
});

function defaultSpec(spec: NetworkPolicySpec): NetworkPolicySpec {
  const isWithoutTypes = (spec.policyTypes ?? []).length === 0;
  const policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  const rules = changePart(
    changePart(spec, 'ingress', (list) => changeItems(list, defaultRule)),
    'egress',
    (list) => changeItems(list, defaultRule),
  );
  return fill(isWithoutTypes ? { ...rules, policyTypes } : rules, { podSelector: {} });
}

function defaultRule<T extends { readonly ports?: readonly NetworkPolicyPort[] | undefined }>(rule: T): T {
  return changePart<T, 'ports'>(rule, 'ports', (ports) => changeItems(ports as readonly NetworkPolicyPort[], defaultPort) as NonNullable<T['ports']>);
}

function defaultPort(port: NetworkPolicyPort): NetworkPolicyPort {
  return fill(port, { protocol: 'TCP' });
}
