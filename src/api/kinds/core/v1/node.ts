import { ageColumn, column, nameColumn } from '#api/column.ts';
import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { findDuplicates } from '#api/rules/checks.ts';
import { labelValueProblems, qualifiedNameProblems } from '#api/rules/names.ts';
import type { Node, Taint } from '#api/types/core-v1.ts';

const rolePrefix = 'node-role.kubernetes.io/';
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const node = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
  message: 'core.v1.Node',
  shortNames: ['no'],
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec?.unschedulable ?? false) },
  subresources: ['status', 'proxy'],
  keepsStatusOnCreate: true, // a kubelet registers with what it has
  storagePrefix: 'minions', // upstream's name since nodes were called so
  columns: [
    nameColumn,
    column('Status', { description: 'The status of the node', cell: statusText }),
    column('Roles', { description: 'The roles of the node', cell: rolesText }),
    ageColumn,
    column('Version', { description: 'Kubelet Version reported by the node.', cell: (node) => node.status?.nodeInfo?.kubeletVersion ?? '' }),
    column('Internal-IP', { isWide: true, description: 'Address inside the cluster.', cell: (node) => addressText(node, 'InternalIP') }),
    column('External-IP', { isWide: true, description: 'Address outside the cluster.', cell: (node) => addressText(node, 'ExternalIP') }),
    column('OS-Image', { isWide: true, description: 'Operating system of the node.', cell: (node) => orUnknown(node.status?.nodeInfo?.osImage) }),
    column('Kernel-Version', { isWide: true, description: 'Kernel of the node.', cell: kernelText }),
    column('Container-Runtime', {
      isWide: true,
      description: 'Container runtime of the node.',
      cell: (node) => orUnknown(node.status?.nodeInfo?.containerRuntimeVersion),
    }),
  ],
  setDefaults: (node) => {
    const { capacity, allocatable } = node.status ?? {};
    return capacity === undefined || allocatable !== undefined ? node : { ...node, status: { ...node.status, allocatable: capacity } };
  },
  validate: (node) => validateTaints(node.spec?.taints ?? []),
  validateUpdate: (next, previous) => validateFixed(next, previous),
  validateStatusUpdate: (next, previous) => validateFixed(next, previous),
});

function validateTaints(taints: readonly Taint[]): readonly FieldProblem[] {
  const field = 'metadata.taints'; // as upstream says, though they are in the spec
  const problems = taints.flatMap((taint, index): readonly FieldProblem[] => [
    ...qualifiedNameProblems(taint.key).map((problem) => invalid(`${field}[${index}].key`, taint.key, problem)),
    ...labelValueProblems(taint.value ?? '').map((problem) => invalid(`${field}[${index}].value`, taint.value ?? '', problem)),
    ...(effects.includes(taint.effect)
      ? []
      : [taint.effect ? notSupported(`${field}[${index}].effect`, taint.effect, effects) : required(`${field}[${index}].effect`)]),
  ]);
  const keyOf = ({ key, effect }: Taint) => `${key}:${effect}`;
  return [...problems, ...findDuplicates(taints, keyOf, (taint, index) => duplicate(`${field}[${index}]`, taint))];
}

function validateFixed(next: Node, previous: Node): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const before = previous.spec?.podCIDRs ?? [];
  const after = next.spec?.podCIDRs ?? [];
  if (before.length > 0 && before.join() !== after.join()) {
    problems.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  const id = previous.spec?.providerID ?? '';
  if (id !== '' && id !== next.spec?.providerID) {
    problems.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  return problems;
}

function statusText(node: Node): string {
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec?.unschedulable === true ? `${word},SchedulingDisabled` : word;
}

function rolesText(node: Node): string {
  const labels = Object.entries(node.metadata.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key === rolePrefix ? [] : [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? '<none>' : [...new Set(roles)].sort().join(',');
}

function addressText(node: Node, type: string): string {
  return node.status?.addresses?.find((address) => address.type === type)?.address ?? '<none>';
}

function kernelText(node: Node): string {
  const { kernelVersion = '', architecture = '' } = node.status?.nodeInfo ?? {};
  if (kernelVersion === '') return '<unknown>';
  return architecture === '' ? kernelVersion : `${kernelVersion} (${architecture})`;
}

function orUnknown(text: string | undefined): string {
  return text === undefined || text === '' ? '<unknown>' : text;
}
