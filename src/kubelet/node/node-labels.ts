import { InvalidInput } from '#base/errors.ts';

/** The labels that every kubelet gives its node; those of the settings come over them. */
export function nodeLabels(
  node: { readonly hostname: string; readonly architecture: string },
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    'beta.kubernetes.io/arch': node.architecture,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': node.architecture,
    'kubernetes.io/hostname': node.hostname,
    'kubernetes.io/os': 'linux',
    ...own,
  };
}

/** What an existing node must have of ours; its other labels are not ours to touch. Source: upstream's list. */
const restored: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);

/** The change that gives an existing node the labels that are ours; an empty value takes a label away. */
export function labelsToRestore(
  wanted: Readonly<Record<string, string>>,
  present: Readonly<Record<string, string>>,
): Readonly<Record<string, string | null>> {
  const wrong = Object.entries(wanted).filter(([name, value]) => restored.has(name) && (present[name] ?? '') !== value);
  return Object.fromEntries(wrong.map(([name, value]) => [name, value === '' ? null : value]));
}

/**
 * Kubernetes' own names may be given to a node by its kubelet only where a kubelet is who knows.
 *
 * @throws {InvalidInput} that names them all
 */
export function refuseForeignLabels(labels: Readonly<Record<string, string>>): void {
  const foreign = Object.keys(labels).filter((name) => isKubernetesLabel(name) && !isKubeletLabel(name));
  if (foreign.length === 0) return;
  throw new InvalidInput({
    message: `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${foreign.sort().join(' ')}]`,
    hint: "--node-labels in the 'kubernetes.io' namespace must begin with kubelet.kubernetes.io or node.kubernetes.io, or be a well-known label",
  });
}

function isKubernetesLabel(name: string): boolean {
  const domain = name.includes('/') ? (name.split('/')[0] ?? '') : '';
  return ['kubernetes.io', 'k8s.io'].some((own) => domain === own || domain.endsWith(`.${own}`));
}

function isKubeletLabel(name: string): boolean {
  const domain = name.split('/')[0] ?? '';
  return restored.has(name) || ['kubelet.kubernetes.io', 'node.kubernetes.io'].some((own) => domain === own || domain.endsWith(`.${own}`));
}
