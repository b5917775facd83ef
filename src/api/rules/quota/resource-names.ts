import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { compareQuantities, parseQuantity } from '#api/quantity.ts';
import { qualifiedNameProblems } from '../names.ts';

const compute = ['cpu', 'memory', 'ephemeral-storage'];
const requested = [...compute, 'storage'].map((name) => `requests.${name}`);
const limited = compute.map((name) => `limits.${name}`);
const counted = [
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps', 'persistentvolumeclaims'],
  ...['services.nodeports', 'services.loadbalancers'],
];
const quotaNames: ReadonlySet<string> = new Set([...compute, ...requested, ...limited, ...counted]);
const standardNames: ReadonlySet<string> = new Set([...quotaNames, 'storage']);
const containerNames: ReadonlySet<string> = new Set(compute);
const nanosOfOne = 1_000_000_000n;

/** A name of Kubernetes' own, or one with the domain of whoever made it. */
export function validateResourceName(name: string, field: string): readonly FieldProblem[] {
  const problems = qualifiedNameProblems(name).map((text) => invalid(field, name, text));
  if (problems.length > 0 || name.includes('/') || standardNames.has(name) || isHugePages(name)) return problems;
  return [invalid(field, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, field: string): readonly FieldProblem[] {
  const problems = validateResourceName(name, field);
  if (problems.length > 0 || name.includes('/') || containerNames.has(name) || name.startsWith('hugepages-')) return problems;
  return [invalid(field, name, 'must be a standard resource for containers')];
}

/** Whether a quota can be about what has no domain. */
export function isQuotaName(name: string): boolean {
  return quotaNames.has(name) || isHugePages(name);
}

/** Names and amounts of a quota. */
export function validateQuotaList(list: Readonly<Record<string, string>>, field: string): readonly FieldProblem[] {
  return Object.entries(list).flatMap(([name, amount]) => {
    const at = `${field}[${name}]`;
    const isUnknown = !name.includes('/') && !isQuotaName(name);
    const isWhole = parseQuantity(amount).nanos % nanosOfOne === 0n;
    return [
      ...validateResourceName(name, at),
      ...(isUnknown ? [invalid(at, name, 'must be a standard resource for quota')] : []),
      ...(compareQuantities(amount, '0') < 0 ? [invalid(at, amount, 'must be greater than or equal to 0')] : []),
      ...((counted.includes(name) || isExtended(name)) && !isWhole ? [invalid(at, amount, 'must be an integer')] : []),
    ];
  });
}

/** What cannot be given to several at once: a limit above the request would be a lie. */
export function isOvercommitAllowed(name: string): boolean {
  return !isExtended(name) && !name.startsWith('hugepages-');
}

/** Pieces of a device: a name with a domain that is not Kubernetes' own. */
function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
}
