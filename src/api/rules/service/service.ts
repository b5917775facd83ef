import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { parseSloppyIp } from '#api/ip-address.ts';
import type { LoadBalancerIngress, Service, ServiceSpec } from '#api/types/core-v1.ts';
import { cidrWarnings, ipWarnings, validateCidr, validateIp, validateOrdinaryIp } from '../addresses.ts';
import { validateChoice } from '../checks.ts';
import { validateLabels } from '../metadata.ts';
import { portNumberProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import { validateClusterIps, validateClusterIpUpdate } from './service-addresses.ts';
import { isExternallyAccessible, isHeadless, isLoadBalancer, needsClusterIp, needsHealthCheck, specOf } from './service-facts.ts';
import { validateServicePorts } from './service-ports.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const trafficPolicies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const maxAffinitySeconds = 86_400;
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const topologyAnnotations = { old: 'service.kubernetes.io/topology-aware-hints', now: 'service.kubernetes.io/topology-mode' };

/** Before addresses and ports are given to it. @param previous undefined: the Service is new */
export function validateService(service: Service, previous: Service | undefined): readonly FieldProblem[] {
  const spec = specOf(service);
  return [
    ...validateTopology(service),
    ...validateServicePorts(service, 'spec.ports'),
    ...(spec.type === 'ExternalName' ? validateExternalName(spec.externalName ?? '') : []),
    ...(spec.selector === undefined ? [] : validateLabels(spec.selector, 'spec.selector')),
    ...validateAffinity(spec),
    ...validateClusterIps(service, previous),
    ...validateExternalIps(spec.externalIPs ?? [], previous?.spec?.externalIPs ?? []),
    ...validateChoice(spec.type, types, 'spec.type'),
    ...validateSourceRanges(service, previous),
    ...validateLoadBalancerFields(service, previous),
    ...validatePolicies(service),
  ];
}

export function validateServiceUpdate(next: Service, previous: Service): readonly FieldProblem[] {
  const isHealthPortChanged =
    needsHealthCheck(next) && needsHealthCheck(previous) && next.spec?.healthCheckNodePort !== previous.spec?.healthCheckNodePort;
  return [
    ...validateClusterIpUpdate(next, previous),
    ...(isHealthPortChanged ? [forbidden('spec.healthCheckNodePort', 'field is immutable')] : []),
    ...validateService(next, previous),
  ];
}

export function validateServiceStatusUpdate(next: Service, previous: Service): readonly FieldProblem[] {
  const field = 'status.loadBalancer.ingress';
  const ingress = next.status?.loadBalancer?.ingress ?? [];
  const stored = (previous.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  if (!isLoadBalancer(next) && ingress.length > 0) return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap((item, index) => validateIngress(item, `${field}[${index}]`, stored));
}

/** What whoever writes a Service is told beside the answer. */
export function serviceWarnings(service: Service): readonly string[] {
  const spec = specOf(service);
  const externalIPs = spec.externalIPs ?? [];
  const told = new Map([
    ['spec.loadBalancerIP is ignored for headless services', isHeadless(service) && (spec.loadBalancerIP ?? '') !== ''],
    ['spec.externalIPs is ignored for headless services', isHeadless(service) && externalIPs.length > 0],
    ['spec.SessionAffinity is ignored for headless services', isHeadless(service) && (spec.sessionAffinity ?? 'None') !== 'None'],
    ['spec.externalIPs is deprecated and may no longer be implemented in some clusters', externalIPs.length > 0],
    ['spec.externalIPs is ignored when spec.type is "ExternalName"', spec.type === 'ExternalName' && externalIPs.length > 0],
    ['spec.externalName is ignored when spec.type is not "ExternalName"', spec.type !== 'ExternalName' && (spec.externalName ?? '') !== ''],
    ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"', spec.trafficDistribution === 'PreferClose'],
  ]);
  return [
    ...[...told].flatMap(([text, isTrue]) => (isTrue ? [text] : [])),
    ...(spec.clusterIPs ?? []).flatMap((ip, index) => ipWarnings(ip, `spec.clusterIPs[${index}]`)),
    ...externalIPs.flatMap((ip, index) => ipWarnings(ip, `spec.externalIPs[${index}]`)),
    ...ipWarnings(spec.loadBalancerIP ?? '', 'spec.loadBalancerIP'),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((range, index) => cidrWarnings(range.trim(), `spec.loadBalancerSourceRanges[${index}]`)),
  ];
}

function validateTopology({ metadata: { annotations = {} } }: Service): readonly FieldProblem[] {
  const [old, now] = [annotations[topologyAnnotations.old], annotations[topologyAnnotations.now]];
  if (old === undefined || now === undefined || old === now) return [];
  const field = `metadata.annotations[${topologyAnnotations.now}]`;
  return [invalid(field, now, `must match annotations[${topologyAnnotations.old}] when both are specified`)];
}

function validateExternalName(name: string): readonly FieldProblem[] {
  const plain = name.replace(/\.$/, ''); // a dot at the end says that the name is whole
  if (plain === '') return [required('spec.externalName')];
  return subdomainProblems(plain).map((text) => invalid('spec.externalName', plain, text));
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): readonly FieldProblem[] {
  const field = 'spec.sessionAffinityConfig';
  const problems = validateChoice(sessionAffinity, affinities, 'spec.sessionAffinity');
  if (problems.length > 0) return problems;
  if (sessionAffinity === 'None')
    return sessionAffinityConfig === undefined ? [] : [forbidden(field, 'must not be set when session affinity is None')];
  const detail = 'when session affinity type is ClientIP';
  if (sessionAffinityConfig === undefined) return [required(field, detail)];
  if (sessionAffinityConfig.clientIP === undefined) return [required(`${field}.clientIP`, detail)];
  const { timeoutSeconds } = sessionAffinityConfig.clientIP;
  const at = `${field}.clientIP.timeoutSeconds`;
  if (timeoutSeconds === undefined) return [required(at, detail)];
  if (timeoutSeconds > 0 && timeoutSeconds <= maxAffinitySeconds) return [];
  return [invalid(at, timeoutSeconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)];
}

function validateExternalIps(ips: readonly string[], stored: readonly string[]): readonly FieldProblem[] {
  return ips.flatMap((ip, index) => {
    const problems = validateIp(ip, `spec.externalIPs[${index}]`, stored);
    return problems.length > 0 ? problems : validateOrdinaryIp(ip, `spec.externalIPs[${index}]`);
  });
}

/** The annotation is from before there was the field. */
function validateSourceRanges(service: Service, previous: Service | undefined): readonly FieldProblem[] {
  const ranges = (service.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim());
  const stored = [...(previous?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim()), ...annotatedRanges(previous)];
  const isMisplaced = !isLoadBalancer(service);
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges'; // upstream's capital
    return [
      ...(isMisplaced ? [forbidden(field, onlyLoadBalancer)] : []),
      ...ranges.flatMap((range, index) => validateCidr(range, `${field}[${index}]`, stored)),
    ];
  }
  if (service.metadata.annotations?.[sourceRangesAnnotation] === undefined) return [];
  const field = `metadata.annotations[${sourceRangesAnnotation}]`;
  return [
    ...(isMisplaced ? [forbidden(field, onlyLoadBalancer)] : []),
    ...annotatedRanges(service).flatMap((range) => validateCidr(range, field, stored)),
  ];
}

function annotatedRanges(service: Service | undefined): readonly string[] {
  const text = service?.metadata.annotations?.[sourceRangesAnnotation]?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((range) => range.trim());
}

function validateLoadBalancerFields(service: Service, previous: Service | undefined): readonly FieldProblem[] {
  const { allocateLoadBalancerNodePorts, loadBalancerClass } = specOf(service);
  const field = 'spec.allocateLoadBalancerNodePorts';
  const problems: FieldProblem[] = [];
  if (isLoadBalancer(service) && allocateLoadBalancerNodePorts === undefined) problems.push(required(field));
  if (!isLoadBalancer(service) && allocateLoadBalancerNodePorts !== undefined) problems.push(forbidden(field, onlyLoadBalancer));
  const at = 'spec.loadBalancerClass';
  if (!isLoadBalancer(service)) return loadBalancerClass === undefined ? problems : [...problems, forbidden(at, onlyLoadBalancer)];
  if (previous !== undefined && isLoadBalancer(previous)) {
    const isSame = previous.spec?.loadBalancerClass === loadBalancerClass;
    return isSame ? problems : [...problems, invalid(at, loadBalancerClass, 'may not change once set')];
  }
  if (loadBalancerClass === undefined) return problems;
  return [...problems, ...qualifiedNameProblems(loadBalancerClass).map((text) => invalid(at, loadBalancerClass, text))];
}

function validatePolicies(service: Service): readonly FieldProblem[] {
  const { externalTrafficPolicy = '', internalTrafficPolicy, trafficDistribution, healthCheckNodePort = 0 } = specOf(service);
  const problems: FieldProblem[] = [];
  const at = 'spec.externalTrafficPolicy';
  if (isExternallyAccessible(service)) problems.push(...validateChoice(externalTrafficPolicy, trafficPolicies, at));
  else if (externalTrafficPolicy !== '') problems.push(invalid(at, externalTrafficPolicy, 'may only be set for externally-accessible services'));
  if (needsHealthCheck(service)) {
    const texts = healthCheckNodePort === 0 ? [] : portNumberProblems(healthCheckNodePort);
    problems.push(...texts.map((text) => invalid('spec.healthCheckNodePort', healthCheckNodePort, text)));
  } else if (healthCheckNodePort !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    problems.push(invalid('spec.healthCheckNodePort', healthCheckNodePort, detail));
  }
  if (internalTrafficPolicy !== undefined || needsClusterIp(service)) {
    problems.push(...validateChoice(internalTrafficPolicy, trafficPolicies, 'spec.internalTrafficPolicy'));
  }
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution)) {
    problems.push(notSupported('spec.trafficDistribution', trafficDistribution, distributions));
  }
  return problems;
}

function validateIngress({ ip = '', ipMode, hostname = '' }: LoadBalancerIngress, field: string, stored: readonly string[]): readonly FieldProblem[] {
  const problems: FieldProblem[] = ip === '' ? [] : [...validateIp(ip, `${field}.ip`, stored)];
  if (ip !== '' && ipMode === undefined) problems.push(required(`${field}.ipMode`, 'must be specified when `ip` is set'));
  if (ip === '' && ipMode !== undefined) problems.push(forbidden(`${field}.ipMode`, 'may not be specified when `ip` is not set'));
  if (ip !== '' && ipMode !== undefined && ipMode !== 'VIP' && ipMode !== 'Proxy') {
    problems.push(notSupported(`${field}.ipMode`, ipMode, ['Proxy', 'VIP']));
  }
  return [...problems, ...validateDnsName(hostname, `${field}.hostname`)];
}

/** A host name of a load balancer; '' is none. */
export function validateDnsName(hostname: string, field: string): readonly FieldProblem[] {
  if (hostname === '') return [];
  return [
    ...subdomainProblems(hostname).map((text) => invalid(field, hostname, text)),
    ...(parseSloppyIp(hostname) === undefined ? [] : [invalid(field, hostname, 'must be a DNS name, not an IP address')]),
  ];
}
