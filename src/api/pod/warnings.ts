import { parseQuantity } from '#api/quantity.ts';
import { quote } from '#api/quote.ts';
import { labelProblems } from '#api/rules/names.ts';
import type { Affinity, Container, ContainerPort, EphemeralContainer, NodeSelectorTerm, Pod, PodSpec, PodTemplateSpec } from '#api/types/core-v1.ts';
import type { TemplateMeta } from '#api/types/meta-v1.ts';
import { volumeWarnings } from './volume-warnings.ts';

type AnyContainer = Container | EphemeralContainer;

const nano = 1_000_000_000n;
const since114 = (name: string) => `deprecated since v1.14; use "${name}" instead`;
const since117 = (name: string) => `deprecated since v1.17; use "${name}" instead`;
const oldNodeLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': since114('kubernetes.io/arch'),
  'beta.kubernetes.io/os': since114('kubernetes.io/os'),
  'failure-domain.beta.kubernetes.io/region': since117('topology.kubernetes.io/region'),
  'failure-domain.beta.kubernetes.io/zone': since117('topology.kubernetes.io/zone'),
  'beta.kubernetes.io/instance-type': since117('node.kubernetes.io/instance-type'),
};
const oldAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

/** What is allowed in a template of pods but surprises. @param field such as `spec.template` */
export function podTemplateWarnings(template: PodTemplateSpec | undefined, field: string): readonly string[] {
  return podWarnings(template?.metadata ?? {}, template?.spec ?? { containers: [] }, `${field}.`);
}

/** What is allowed in a pod but surprises. */
export function newPodWarnings({ metadata, spec }: Pod): readonly string[] {
  const problems = labelProblems(metadata.name);
  const advice = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  const ofName = problems.length === 0 ? [] : [`metadata.name: ${advice}: [${problems.join(' ')}]`];
  return [...ofName, ...podWarnings(metadata, spec ?? { containers: [] }, '')];
}

/** @param prefix of every field that is named: '' for a pod */
function podWarnings(metadata: Pick<TemplateMeta, 'annotations'>, spec: PodSpec, prefix: string): readonly string[] {
  const at = `${prefix}spec`;
  const annotations = Object.keys(metadata.annotations ?? {}).flatMap((key) => said(`${prefix}metadata.annotations[${key}]`, oldAnnotations[key]));
  const grace = spec.terminationGracePeriodSeconds ?? 0;
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => said(`${at}.nodeSelector[${key}]`, oldNodeLabels[key])),
    ...nodeAffinityWarnings(spec.affinity, `${at}.affinity.nodeAffinity`),
    ...spreadWarnings(spec, `${at}.topologySpreadConstraints`),
    ...annotations,
    ...volumeWarnings(spec.volumes ?? [], `${at}.volumes`),
    ...repeated(spec.hostAliases ?? [], ({ ip }) => ip ?? '', 'ip', `${at}.hostAliases`),
    ...repeated(spec.imagePullSecrets ?? [], ({ name }) => name ?? '', 'name', `${at}.imagePullSecrets`),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name = '' }, index) =>
      name === '' ? [`${at}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...fractions(spec.overhead, `${at}.overhead`),
    ...containersOf(spec, at).flatMap(({ container, field }) => containerWarnings(container, field)),
    ...portWarnings(spec, at),
    ...(grace < 0 ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`] : []),
    ...podAffinityWarnings(spec.affinity, `${at}.affinity`),
  ];
}

function said(field: string, text: string | undefined): readonly string[] {
  return text === undefined ? [] : [`${field}: ${text}`];
}

function nodeAffinityWarnings(affinity: Affinity | undefined, field: string): readonly string[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } =
    affinity?.nodeAffinity ?? {};
  const ofTerm = ({ matchExpressions = [] }: NodeSelectorTerm, at: string) =>
    matchExpressions.flatMap(({ key }, index) => {
      const text = oldNodeLabels[key];
      return text === undefined ? [] : [`${at}.matchExpressions[${index}].key: ${key} is ${text}`];
    });
  const inRequired = `${field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const inPreferred = `${field}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) => ofTerm(term, `${inRequired}[${index}]`)),
    ...preferred.flatMap(({ preference }, index) => ofTerm(preference ?? {}, `${inPreferred}[${index}].preference`)),
  ];
}

const nullSelector = 'a null labelSelector results in matching no pod';

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, field: string): readonly string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => {
    const text = oldNodeLabels[topologyKey];
    return [
      ...(text === undefined ? [] : [`${field}[${index}].topologyKey: ${topologyKey} is ${text}`]),
      ...(labelSelector === undefined ? [`${field}[${index}].labelSelector: ${nullSelector}`] : []),
    ];
  });
}

function podAffinityWarnings(affinity: Affinity | undefined, field: string): readonly string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((key) => {
    const { requiredDuringSchedulingIgnoredDuringExecution: required = [], preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } =
      affinity?.[key] ?? {};
    const at = `${field}.${key}`;
    return [
      ...required.flatMap(({ labelSelector }, index) =>
        labelSelector === undefined ? [`${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${nullSelector}`] : [],
      ),
      ...preferred.flatMap(({ podAffinityTerm }, index) =>
        podAffinityTerm?.labelSelector === undefined
          ? [`${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${nullSelector}`]
          : [],
      ),
    ];
  });
}

function repeated<T>(items: readonly T[], keyOf: (item: T) => string, key: string, field: string): readonly string[] {
  const seen = new Set<string>();
  return items.map(keyOf).flatMap((value, index) => {
    const isFirst = !seen.has(value);
    seen.add(value);
    return isFirst ? [] : [`${field}[${index}].${key}: duplicate ${key} ${quote(value)}`];
  });
}

/** Bytes come whole. */
function fractions(amounts: Readonly<Record<string, string>> | undefined, field: string): readonly string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) => {
    const amount = amounts?.[name];
    const isWhole = amount === undefined || parseQuantity(amount).nanos % nano === 0n;
    return isWhole ? [] : [`${field}[${name}]: fractional byte value ${quote(amount)} is invalid, must be an integer`];
  });
}

function containersOf(spec: PodSpec, field: string): readonly { readonly container: AnyContainer; readonly field: string }[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((key) =>
    (spec[key] ?? []).map((container: AnyContainer, index) => ({ container, field: `${field}.${key}[${index}]` })),
  );
}

function containerWarnings({ resources, env = [] }: AnyContainer, field: string): readonly string[] {
  const seen = new Set<string>();
  const hidden = env.flatMap(({ name, value = '', valueFrom }, index) => {
    const isFirst = !seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    // What is built on the value before does not lose it.
    const keepsIt = valueFrom === undefined && value !== reference && value.includes(reference);
    return isFirst || keepsIt ? [] : [`${field}.env[${index}]: hides previous definition of ${quote(name)}, which may be dropped when using apply`];
  });
  return [...fractions(resources?.limits, `${field}.resources.limits`), ...fractions(resources?.requests, `${field}.resources.requests`), ...hidden];
}

/** Of pairs there may be millions; what an answer's headers can hold is less than this. */
const maxOverlaps = 256;

function portWarnings(spec: PodSpec, field: string): readonly string[] {
  const ports = containersOf(spec, field).flatMap(({ container, field: at }) =>
    (container.ports ?? []).map((port, index) => ({ port, at: `${at}.ports[${index}]` })),
  );
  // Only ports of one number and protocol can overlap.
  const earlier = new Map<string, (typeof ports)[number][]>();
  let left = maxOverlaps;
  return ports.flatMap(({ port, at }) => {
    const { hostIP = '', hostPort = 0, containerPort, protocol = '' } = port;
    const shown = `{Name:${port.name ?? ''} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
    const same = earlier.get(`${containerPort}/${protocol}`) ?? [];
    const overlaps = same
      .slice(0, left)
      .flatMap((other) => overlapOf(port, other.port).map((what) => `${at}: ${what} port definition with ${other.at}`));
    left -= overlaps.length;
    same.push({ port, at });
    earlier.set(`${containerPort}/${protocol}`, same);
    return [...(hostIP !== '' && hostPort === 0 ? [`${at}: hostIP set without hostPort: ${shown}`] : []), ...overlaps];
  });
}

/** Of ports with the same number and protocol. */
function overlapOf(port: ContainerPort, other: ContainerPort): readonly string[] {
  const [ip = '', otherIp = ''] = [port.hostIP, other.hostIP];
  const [hostPort = 0, otherHostPort = 0] = [port.hostPort, other.hostPort];
  if (ip === otherIp && hostPort === otherHostPort) return ['duplicate'];
  if (hostPort === 0 || otherHostPort === 0) return ['overlapping'];
  return hostPort === otherHostPort && (ip === '') !== (otherIp === '') ? ['dangerously ambiguous'] : [];
}
