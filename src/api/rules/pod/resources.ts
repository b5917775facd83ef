import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { compareQuantities, parseQuantity } from '#api/quantity.ts';
import type { ResourceRequirements } from '#api/types/core-v1.ts';
import { qualifiedNameProblems } from '../names.ts';

const standard: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);
const nano = 1_000_000_000n;

export function validateResources(resources: ResourceRequirements, field: string): readonly FieldProblem[] {
  const { requests = {}, limits = {} } = resources;
  const problems = [...validateList(limits, `${field}.limits`), ...validateList(requests, `${field}.requests`)];
  for (const [name, request] of Object.entries(requests)) problems.push(...validateRequest(name, request, limits[name], `${field}.requests`));
  const names = [...new Set([...Object.keys(requests), ...Object.keys(limits)])];
  if (names.some((name) => name.startsWith('hugepages-')) && !names.includes('cpu') && !names.includes('memory')) {
    problems.push({ type: 'Forbidden', field, detail: 'HugePages require cpu or memory' });
  }
  return problems;
}

/** Names and amounts, whatever they are for. */
export function validateList(list: Readonly<Record<string, string>>, field: string): readonly FieldProblem[] {
  return Object.entries(list).flatMap(([name, text]) => {
    const at = `${field}[${name}]`;
    const problems = validateResourceName(name, at).slice();
    if (compareQuantities(text, '0') < 0) problems.push(invalid(at, text, 'must be greater than or equal to 0'));
    if (isCounted(name) && parseQuantity(text).nanos % nano !== 0n) problems.push(invalid(at, text, 'must be an integer'));
    return problems;
  });
}

function validateResourceName(name: string, field: string): readonly FieldProblem[] {
  const problems = qualifiedNameProblems(name).map((problem) => invalid(field, name, problem));
  if (problems.length > 0 || name.includes('/') || standard.has(name) || name.startsWith('hugepages-')) return problems;
  return [invalid(field, name, 'must be a standard resource type or fully qualified')];
}

function validateRequest(name: string, request: string, limit: string | undefined, field: string): readonly FieldProblem[] {
  const mayDiffer = !isExtended(name) && !name.startsWith('hugepages-');
  if (limit === undefined)
    return mayDiffer ? [] : [required(field.replace(/\.requests$/, '.limits'), 'Limit must be set for non overcommitable resources')];
  const order = compareQuantities(request, limit);
  if (!mayDiffer && order !== 0) return [invalid(field, request, `must be equal to ${name} limit of ${limit}`)];
  return order > 0 ? [invalid(field, request, `must be less than or equal to ${name} limit of ${limit}`)] : [];
}

/** Pieces of a device: not `cpu`, and not a name of Kubernetes' own. */
function isExtended(name: string): boolean {
  return name.includes('/') && !name.slice(0, name.indexOf('/')).endsWith('kubernetes.io');
}

function isCounted(name: string): boolean {
  return isExtended(name) || name === 'pods';
}
