import { ageColumn, type Column, column, nameColumn } from '#api/column.ts';
import type { KubeObject } from '#api/object.ts';
import type { ParamKind, ParamRef } from '#api/types/admissionregistration-v1.ts';
import type { LabelSelector } from '#api/types/meta-v1.ts';

interface WithWebhooks extends KubeObject {
  readonly webhooks?: readonly unknown[] | undefined;
}

interface WithParamKind extends KubeObject {
  readonly spec?: { readonly paramKind?: ParamKind | undefined } | undefined;
}

interface PolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string | undefined; readonly paramRef?: ParamRef | undefined } | undefined;
}

export const webhookColumns: readonly Column<WithWebhooks>[] = [
  nameColumn,
  column('Webhooks', { type: 'integer', description: 'How many webhooks it registers.', cell: ({ webhooks }) => (webhooks ?? []).length }),
  ageColumn,
];

export const paramKindColumn: Column<WithParamKind> = column('ParamKind', {
  description: 'The kind of its parameters.',
  cell: ({ spec }) => (spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}`),
});

export const bindingColumns: readonly Column<PolicyBinding>[] = [
  nameColumn,
  column('PolicyName', { description: 'The policy that it puts to use.', cell: ({ spec }) => spec?.policyName ?? '' }),
  column('ParamRef', { description: 'Its parameters.', cell: ({ spec }) => paramText(spec?.paramRef) }),
  ageColumn,
];

function paramText(reference: ParamRef | undefined): string {
  const { name = '', namespace = '', selector } = reference ?? {};
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`; // without one it may be in any namespace, or in none
  return selector === undefined ? '<unset>' : selectorText(selector);
}

/** As Go prints it: upstream's column shows it so. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const keys = Object.keys(matchLabels).sort();
  const labels = keys.map((key) => `${key}: ${matchLabels[key]},`).join('');
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
