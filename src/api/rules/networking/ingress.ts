import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { parseSloppyIp } from '#api/ip-address.ts';
import type { TypedLocalObjectReference } from '#api/types/core-v1.ts';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressClassParametersReference,
  IngressRule,
  IngressSpec,
  IngressTLS,
} from '#api/types/networking-v1.ts';
import { validateIp } from '../addresses.ts';
import { labelProblems, pathSegmentProblems, portNameProblems, portNumberProblems, subdomainProblems, wildcardProblems } from '../names.ts';
import { validateDnsName } from '../service/service.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const exactPathTypes = ['Exact', 'Prefix'];
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEnds = ['/..', '/.'];

export function validateNewIngress({ metadata, spec }: Ingress): readonly FieldProblem[] {
  const annotated = metadata.annotations?.[classAnnotation];
  const isOther = annotated !== undefined && spec?.ingressClassName !== undefined && annotated !== spec.ingressClassName;
  const detail = 'must match `ingressClassName` when both are specified';
  return [
    ...validateSpec(spec ?? {}, { knownBadSecrets: false }),
    ...(isOther ? [invalid(`annotations.${classAnnotation}`, annotated, detail)] : []),
  ];
}

/** Secret names that were bad before may stay bad. */
export function validateIngressUpdate(next: Ingress, previous: Ingress): readonly FieldProblem[] {
  const knownBadSecrets = (previous.spec?.tls ?? []).some(({ secretName = '' }) => secretName !== '' && subdomainProblems(secretName).length > 0);
  return validateSpec(next.spec ?? {}, { knownBadSecrets });
}

export function validateIngressStatusUpdate(next: Ingress, previous: Ingress): readonly FieldProblem[] {
  const stored = (previous.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  return (next.status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '', hostname = '' }, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    return [...(ip === '' ? [] : validateIp(ip, `${at}.ip`, stored)), ...validateDnsName(hostname, `${at}.hostname`)];
  });
}

/** What an IngressClass tells its controller to read. */
export function validateParameters(parameters: IngressClassParametersReference, field: string): readonly FieldProblem[] {
  const { scope, namespace } = parameters;
  const problems: FieldProblem[] = [...validateReference(parameters, field)];
  if (scope === undefined) return [...problems, required(`${field}.scope`)];
  const at = `${field}.namespace`;
  switch (scope) {
    case 'Namespace':
      if (namespace === undefined) return [...problems, required(at, "`parameters.scope` is set to 'Namespace'")];
      return [...problems, ...labelProblems(namespace).map((text) => invalid(at, namespace, text))];
    case 'Cluster':
      return namespace === undefined ? problems : [...problems, forbidden(at, "`parameters.scope` is set to 'Cluster'")];
    default:
      return [...problems, notSupported(`${field}.scope`, scope, ['Cluster', 'Namespace'])];
  }
}

function validateSpec(
  { rules = [], defaultBackend, tls = [], ingressClassName }: IngressSpec,
  { knownBadSecrets }: { readonly knownBadSecrets: boolean },
): readonly FieldProblem[] {
  const isEmpty = rules.length === 0 && defaultBackend === undefined;
  const at = 'spec.ingressClassName';
  return [
    ...(isEmpty ? [invalid('spec', undefined, 'either `defaultBackend` or `rules` must be specified')] : []),
    ...(defaultBackend === undefined ? [] : validateBackend(defaultBackend, 'spec.defaultBackend')),
    ...rules.flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)),
    ...tls.flatMap((item, index) => validateTls(item, `spec.tls[${index}]`, knownBadSecrets)),
    ...(ingressClassName === undefined ? [] : subdomainProblems(ingressClassName).map((text) => invalid(at, ingressClassName, text))),
  ];
}

function validateRule({ host = '', http }: IngressRule, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (host !== '') {
    if (parseSloppyIp(host) !== undefined) problems.push(invalid(`${field}.host`, host, 'must be a DNS name, not an IP address'));
    problems.push(...hostProblems(host).map((text) => invalid(`${field}.host`, host, text)));
  }
  if (http === undefined) return problems;
  const paths = http.paths ?? [];
  if (paths.length === 0) problems.push(required(`${field}.http.paths`));
  return [...problems, ...paths.flatMap((path, index) => validatePath(path, `${field}.http.paths[${index}]`))];
}

function validateTls({ hosts = [], secretName = '' }: IngressTLS, field: string, knownBadSecrets: boolean): readonly FieldProblem[] {
  const isJudged = secretName !== '' && !knownBadSecrets;
  return [
    ...hosts.flatMap((host, index) => hostProblems(host).map((text) => invalid(`${field}.hosts[${index}]`, host, text))),
    ...(isJudged ? subdomainProblems(secretName).map((text) => invalid(`${field}.secretName`, secretName, text)) : []),
  ];
}

function hostProblems(host: string): readonly string[] {
  return host.includes('*') ? wildcardProblems(host) : subdomainProblems(host);
}

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, field: string): readonly FieldProblem[] {
  if (pathType === undefined) return [required(`${field}.pathType`, 'pathType must be specified')];
  const bad = (detail: string) => invalid(`${field}.path`, path, detail);
  const problems: FieldProblem[] = [];
  if (exactPathTypes.includes(pathType)) {
    if (!path.startsWith('/')) problems.push(bad('must be an absolute path'));
    problems.push(...forbiddenParts.filter((part) => path.includes(part)).map((part) => bad(`must not contain '${part}'`)));
    problems.push(...forbiddenEnds.filter((end) => path.endsWith(end)).map((end) => bad(`cannot end with '${end}'`)));
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) problems.push(bad('must be an absolute path'));
  } else {
    problems.push(notSupported(`${field}.pathType`, pathType, pathTypes));
  }
  return [...problems, ...validateBackend(backend ?? {}, `${field}.backend`)];
}

function validateBackend({ service, resource }: IngressBackend, field: string): readonly FieldProblem[] {
  if (service !== undefined && resource !== undefined) return [invalid(field, '', 'cannot set both resource and service backends')];
  if (resource !== undefined) return validateReference(resource, `${field}.resource`);
  if (service === undefined) return [invalid(field, '', 'resource or service backend is required')];
  const { name: serviceName = '' } = service;
  const { name = '', number = 0 } = service.port ?? {};
  const at = `${field}.service`;
  const problems: FieldProblem[] =
    serviceName === '' ? [required(`${at}.name`)] : labelProblems(serviceName).map((text) => invalid(`${at}.name`, serviceName, text));
  if (name !== '' && number !== 0) return [...problems, invalid(field, '', 'cannot set both port name & port number')];
  if (name !== '') return [...problems, ...portNameProblems(name).map((text) => invalid(`${at}.port.name`, name, text))];
  if (number !== 0) return [...problems, ...portNumberProblems(number).map((text) => invalid(`${at}.port.number`, number, text))];
  return [...problems, required(field, 'port name or number is required')];
}

function validateReference({ apiGroup, kind = '', name = '' }: TypedLocalObjectReference, field: string): readonly FieldProblem[] {
  const segment = (key: string, text: string) =>
    text === '' ? [required(`${field}.${key}`)] : pathSegmentProblems(text).map((problem) => invalid(`${field}.${key}`, text, problem));
  return [
    ...(apiGroup === undefined ? [] : subdomainProblems(apiGroup).map((text) => invalid(`${field}.apiGroup`, apiGroup, text))),
    ...segment('kind', kind),
    ...segment('name', name),
  ];
}
