/** kubectl takes the first group that has a name which several have: the order is upstream's, the core group first. */
const order: readonly string[] = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

export interface ApiGroup<T> {
  readonly name: string;
  /** Preferred one first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly T[] }[];
}

export function groupsOf<T extends { readonly group: string; readonly version: string; readonly plural: string }>(
  resources: readonly T[],
): readonly ApiGroup<T>[] {
  const names = [...new Set(resources.map(({ group }) => group))].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return names.map((name) => {
    const members = resources.filter(({ group }) => group === name);
    const versions = [...new Set(members.map(({ version }) => version))].sort(compareVersions);
    return {
      name,
      versions: versions.map((version) => ({
        version,
        resources: members.filter((member) => member.version === version).sort((a, b) => (a.plural < b.plural ? -1 : 1)),
      })),
    };
  });
}

function rank(group: string): number {
  const at = order.indexOf(group);
  return at < 0 ? order.length : at;
}

/** `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then the others by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [weightOf(a), weightOf(b)];
  for (const [position, weight] of left.entries()) {
    const other = right[position] ?? 0;
    if (weight !== other) return other - weight;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function weightOf(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major = '0', stage, minor = '0'] = match;
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor)];
}
