import { deepEqual } from '#api/deep-equal.ts';
import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { type IpFamily, parseSloppyIp } from '#api/ip-address.ts';
import { isHeadless, noClusterIp, specOf } from '#api/rules/service/service-facts.ts';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';

export type WithFamilies = { readonly service: Service; readonly problems: readonly FieldProblem[] };

/** What `ipFamilyPolicy`, `ipFamilies` and `clusterIPs` become on a cluster of these families, the first one being the default; pure. */
export function withFamilies(service: Service, previous: Service | undefined, configured: readonly IpFamily[]): WithFamilies {
  if (service.spec?.type === 'ExternalName' || isUntouchedDualStack(service, previous)) return { service, problems: [] };
  const ipFamilyPolicy = service.spec?.ipFamilyPolicy ?? previous?.spec?.ipFamilyPolicy ?? defaultPolicy(service);
  const released = previous === undefined ? {} : releasedSecond({ ...specOf(service), ipFamilyPolicy }, specOf(previous));
  const spec: ServiceSpec = { ...service.spec, ipFamilyPolicy, ...released };
  const inferred = inferFamilies(spec, configured);
  const problems = [...(previous === undefined ? [] : reductionProblems(spec, specOf(previous))), ...countProblems(spec), ...inferred.problems];
  const result = { ...service, spec: { ...spec, ipFamilies: inferred.families } };
  if (problems.length > 0) return { service: result, problems };
  const isFree = isHeadless(service) && Object.keys(spec.selector ?? {}).length === 0; // nobody looks for its endpoints: any family will do
  return isFree ? { service: completed(result, configured, true), problems: [] } : checked(result, configured);
}

function checked(service: Service, configured: readonly IpFamily[]): WithFamilies {
  const { ipFamilies = [], ipFamilyPolicy } = specOf(service);
  const problems = ipFamilies.flatMap((family, index) =>
    isConfigured(family, configured) ? [] : [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
  );
  if (ipFamilyPolicy === 'RequireDualStack' && configured.length < 2) {
    problems.unshift(invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  return problems.length > 0 ? { service, problems } : { service: completed(service, configured, configured.length > 1), problems: [] };
}

/** The default family where none is given; the other one too where there may be two. */
function completed(service: Service, configured: readonly IpFamily[], mayBeTwo: boolean): Service {
  const { ipFamilies = [], ipFamilyPolicy } = specOf(service);
  const first = ipFamilies[0] ?? configured[0] ?? 'IPv4';
  const isSingle = ipFamilies.length > 1 || ipFamilyPolicy === 'SingleStack' || !mayBeTwo;
  const families = ipFamilies.length > 1 ? ipFamilies : isSingle ? [first] : [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
  return { ...service, spec: { ...service.spec, ipFamilies: families } };
}

function defaultPolicy(service: Service): string {
  const isSelectorless = Object.keys(service.spec?.selector ?? {}).length === 0;
  return isHeadless(service) && isSelectorless ? 'RequireDualStack' : 'SingleStack';
}

/** A Service that prefers two families gains or loses one only when somebody asks for it, not when the cluster changes. */
function isUntouchedDualStack(service: Service, previous: Service | undefined): boolean {
  const policy = 'PreferDualStack';
  if (previous === undefined || service.spec?.ipFamilyPolicy !== policy || previous.spec?.ipFamilyPolicy !== policy) return false;
  return deepEqual(service.spec.clusterIPs, previous.spec.clusterIPs) && deepEqual(service.spec.ipFamilies, previous.spec.ipFamilies);
}

/** The policy alone says that the second address goes. */
function releasedSecond(spec: ServiceSpec, before: ServiceSpec): Partial<ServiceSpec> {
  if (spec.ipFamilyPolicy !== 'SingleStack') return {};
  const { clusterIPs = [], ipFamilies = [] } = spec;
  return {
    ...(clusterIPs.length > 1 && deepEqual(clusterIPs, before.clusterIPs) ? { clusterIPs: clusterIPs.slice(0, 1) } : {}),
    ...(ipFamilies.length > 1 && deepEqual(ipFamilies, before.ipFamilies) ? { ipFamilies: ipFamilies.slice(0, 1) } : {}),
  };
}

function reductionProblems(spec: ServiceSpec, before: ServiceSpec): readonly FieldProblem[] {
  if (spec.ipFamilyPolicy === 'SingleStack') return [];
  const isReduced = (next: readonly string[] | undefined, held: readonly string[] | undefined) =>
    (next ?? []).length === 1 && (held ?? []).length > 1 && next?.[0] === held?.[0];
  const problem = (what: string) => invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isReduced(spec.clusterIPs, before.clusterIPs) ? [problem('cluster IP')] : []),
    ...(isReduced(spec.ipFamilies, before.ipFamilies) ? [problem('IP family')] : []),
  ];
}

function countProblems({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): readonly FieldProblem[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const problem = (what: string) =>
    invalid('spec.ipFamilyPolicy', ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`);
  return [...(clusterIPs.length === 2 ? [problem('cluster IPs')] : []), ...(ipFamilies.length === 2 ? [problem('IP families')] : [])];
}

/** An address that was given says its family. */
function inferFamilies({ clusterIPs = [], ipFamilies = [] }: ServiceSpec, configured: readonly IpFamily[]) {
  const families: string[] = [...ipFamilies];
  const problems: FieldProblem[] = [];
  for (const [index, ip] of clusterIPs.entries()) {
    if (ip === noClusterIp || index < families.length) continue;
    const family = parseSloppyIp(ip)?.family;
    if (family === undefined) continue;
    if (isConfigured(family, configured)) families.push(family);
    else problems.push(invalid(`spec.clusterIPs[${index}]`, clusterIPs, `${family} is not configured on this cluster`));
  }
  return { families, problems };
}

function isConfigured(family: string, configured: readonly IpFamily[]): boolean {
  return configured.some((one) => one === family);
}
