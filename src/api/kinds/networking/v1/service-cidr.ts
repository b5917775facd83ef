import { ageColumn, column, nameColumn } from '#api/column.ts';
import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { parseCidr } from '#api/ip-address.ts';
import { defineKind } from '#api/kind.ts';
import { validateCanonicalCidr } from '#api/rules/addresses.ts';
import type { ServiceCIDR } from '#api/types/networking-v1.ts';

const field = 'spec.cidrs';

/** Ranges that Services get their addresses from. */
export const serviceCidr = defineKind<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
  message: 'networking.v1.ServiceCIDR',
  subresources: ['status'],
  columns: [nameColumn, column('CIDRs', { description: 'Ranges of addresses.', cell: ({ spec }) => (spec?.cidrs ?? []).join(',') }), ageColumn],
  validateCreate: ({ spec }) => validateCidrs(spec?.cidrs ?? []),
  validateUpdate: (next, previous) => validateCidrsUpdate(next.spec?.cidrs ?? [], previous.spec?.cidrs ?? []),
});

function validateCidrs(cidrs: readonly string[]): readonly FieldProblem[] {
  if (cidrs.length === 0) return [required(field, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(field, cidrs, 'may only hold up to 2 values')];
  const families = cidrs.map((cidr) => parseCidr(cidr)?.first.family);
  const isSameFamily = cidrs.length === 2 && families[0] !== undefined && families[0] === families[1];
  const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [
    ...cidrs.flatMap((cidr, index) => validateCanonicalCidr(cidr, `${field}[${index}]`)),
    ...(isSameFamily ? [invalid(field, cidrs, detail)] : []),
  ];
}

/** A range of the other family may come to the one that there is. */
function validateCidrsUpdate(next: readonly string[], previous: readonly string[]): readonly FieldProblem[] {
  const detail = 'field is immutable';
  const isExtended = previous.length === 1 && next.length === 2;
  if (!isExtended && next.length !== previous.length) return [invalid(field, next, detail)];
  const changed = previous.flatMap((cidr, index) => (cidr === next[index] ? [] : [invalid(`${field}[${index}]`, next[index], detail)]));
  return isExtended ? [...changed, ...validateCidrs(next)] : changed;
}
