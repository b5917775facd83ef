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

/** Those of our labels that an existing node lacks or has wrong. Its other labels are not ours to touch. */
export function missingLabels(wanted: Readonly<Record<string, string>>, present: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => present[name] !== value));
}
