import { type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { HostAlias, PodDNSConfig, PodSpec } from '#api/types/core-v1.ts';
import { validateChoice } from '../checks.ts';
import { isIpAddress, labelProblems, qualifiedNameProblems, subdomainProblems, type TextRule } from '../names.ts';
import { validateContainers } from './containers.ts';
import { validateList, validateResources } from './resources.ts';
import { validateScheduling } from './scheduling.ts';
import { validatePodSecurity } from './security.ts';
import { validateVolumes } from './volumes.ts';

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
const int32Max = 2 ** 31 - 1;

/** Of a pod and of a template of pods, defaulted. @param field `spec`, or `spec.template.spec` */
export function validatePodSpec(spec: PodSpec, field: string): readonly FieldProblem[] {
  return [
    ...validateVolumes(spec.volumes ?? [], `${field}.volumes`),
    ...validateContainers(spec, field),
    ...validateChoice(spec.restartPolicy, restartPolicies, `${field}.restartPolicy`),
    ...validateChoice(spec.dnsPolicy, dnsPolicies, `${field}.dnsPolicy`),
    ...validatePodSecurity(spec, field),
    ...validateNames(spec, field),
    ...validateNumbers(spec, field),
    ...validateDns(spec.dnsConfig, spec.dnsPolicy, `${field}.dnsConfig`),
    ...validateAliases(spec.hostAliases ?? [], `${field}.hostAliases`),
    ...validateScheduling(spec, field),
    ...(spec.overhead === undefined ? [] : validateList(spec.overhead, `${field}.overhead`)),
    ...(spec.resources === undefined ? [] : validateResources(spec.resources, `${field}.resources`)),
    ...validateReadinessGates(spec, `${field}.readinessGates`),
  ];
}

function validateNames(spec: PodSpec, field: string): readonly FieldProblem[] {
  const rules: readonly (readonly [
    keyof PodSpec & ('serviceAccountName' | 'nodeName' | 'hostname' | 'subdomain' | 'priorityClassName' | 'runtimeClassName' | 'schedulerName'),
    TextRule,
  ])[] = [
    ['serviceAccountName', subdomainProblems],
    ['nodeName', subdomainProblems],
    ['hostname', labelProblems],
    ['subdomain', labelProblems],
    ['priorityClassName', subdomainProblems],
    ['runtimeClassName', subdomainProblems],
    ['schedulerName', qualifiedNameProblems],
  ];
  const problems = rules.flatMap(([key, rule]) => {
    const name = spec[key] ?? '';
    return name === '' ? [] : rule(name).map((text) => invalid(`${field}.${key}`, name, text));
  });
  const policy = spec.preemptionPolicy;
  const isKnown = policy === undefined || policy === 'Never' || policy === 'PreemptLowerPriority';
  const os = spec.os?.name;
  return [
    ...problems,
    ...(isKnown ? [] : [notSupported(`${field}.preemptionPolicy`, policy, ['Never', 'PreemptLowerPriority'])]),
    ...(os === undefined || os === 'linux' || os === 'windows' ? [] : [notSupported(`${field}.os`, os, ['linux', 'windows'])]),
  ];
}

function validateNumbers(spec: PodSpec, field: string): readonly FieldProblem[] {
  const { activeDeadlineSeconds: deadline, terminationGracePeriodSeconds: grace } = spec;
  const problems: FieldProblem[] = [];
  if (deadline !== undefined && (deadline < 1 || deadline > int32Max)) {
    problems.push(invalid(`${field}.activeDeadlineSeconds`, deadline, `must be between 1 and ${int32Max}, inclusive`));
  }
  if (grace === undefined) problems.push(required(`${field}.terminationGracePeriodSeconds`));
  return problems;
}

function validateDns(config: PodDNSConfig | undefined, policy: string | undefined, field: string): readonly FieldProblem[] {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  const problems: FieldProblem[] = [];
  if (policy === 'None' && nameservers.length === 0) {
    const isAbsent = config === undefined;
    const detail = `must provide ${isAbsent ? '`dnsConfig`' : 'at least one DNS nameserver'} when \`dnsPolicy\` is None`;
    problems.push(required(isAbsent ? field : `${field}.nameservers`, detail));
  }
  if (nameservers.length > 3) problems.push(invalid(`${field}.nameservers`, nameservers, 'must not have more than 3 nameservers'));
  for (const [index, server] of nameservers.entries()) {
    if (!isIpAddress(server))
      problems.push(invalid(`${field}.nameservers[${index}]`, server, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
  }
  if (searches.length > 32) problems.push(invalid(`${field}.searches`, searches, 'must not have more than 32 search paths'));
  if (searches.join(' ').length > 2048) {
    problems.push(invalid(`${field}.searches`, searches, 'must not have more than 2048 characters (including spaces) in the search list'));
  }
  for (const [index, { name = '' }] of options.entries()) if (name === '') problems.push(required(`${field}.options[${index}]`, 'must not be empty'));
  return problems;
}

function validateAliases(aliases: readonly HostAlias[], field: string): readonly FieldProblem[] {
  return aliases.flatMap(({ ip = '', hostnames = [] }, index) => [
    ...(isIpAddress(ip) ? [] : [invalid(`${field}[${index}].ip`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]),
    ...hostnames.flatMap((name, place) => subdomainProblems(name).map((text) => invalid(`${field}[${index}].hostnames[${place}]`, name, text))),
  ]);
}

function validateReadinessGates(spec: PodSpec, field: string): readonly FieldProblem[] {
  return (spec.readinessGates ?? []).flatMap(({ conditionType = '' }, index) =>
    qualifiedNameProblems(conditionType).map((text) => invalid(`${field}[${index}].conditionType`, conditionType, text)),
  );
}
