import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { parseSloppyIp } from '#api/ip-address.ts';
import type { Service } from '#api/types/core-v1.ts';
import { validateIp } from '../addresses.ts';
import { findDuplicates } from '../checks.ts';
import { isHeadless, noClusterIp, specOf } from './service-facts.ts';

const families = ['IPv4', 'IPv6'];
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`: each, and together. */
export function validateClusterIps(service: Service, previous: Service | undefined): readonly FieldProblem[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, type } = specOf(service);
  if (type === 'ExternalName') {
    const given = { clusterIPs: clusterIPs.length > 0, ipFamilies: ipFamilies.length > 0, ipFamilyPolicy: ipFamilyPolicy !== undefined };
    return Object.entries(given).flatMap(([key, isGiven]) => (isGiven ? [forbidden(`spec.${key}`, 'may not be set for ExternalName services')] : []));
  }
  const problems: FieldProblem[] = [
    ...ipFamilies.flatMap((family, index) => (families.includes(family) ? [] : [notSupported(`spec.ipFamilies[${index}]`, family, families)])),
    ...findDuplicates(
      ipFamilies,
      (family) => family,
      (family, index) => duplicate(`spec.ipFamilies[${index}]`, family),
    ),
    ...(ipFamilyPolicy === undefined || familyPolicies.includes(ipFamilyPolicy)
      ? []
      : [notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, familyPolicies)]),
    ...validateHeadless(service),
    ...validateLink(service),
  ];
  const bad = validateEachIp(clusterIPs, previous?.spec?.clusterIPs ?? []);
  if (clusterIPs.length > 2) problems.push(invalid('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values'));
  if (bad.length > 0) return [...problems, ...bad];
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < clusterIPs.length) {
    problems.push(invalid('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  return problems.length > 0 || isHeadless(service) ? problems : validateFamilies(clusterIPs, ipFamilies);
}

/** What of the addresses may not change: the first one, and a second one without a word of the policy. */
export function validateClusterIpUpdate(next: Service, previous: Service): readonly FieldProblem[] {
  if (next.spec?.type === 'ExternalName' || previous.spec?.type === 'ExternalName') return [];
  if (isHeadless(next) && isHeadless(previous)) return [];
  const isOtherKind = isHeadless(next) !== isHeadless(previous);
  return [...validateIpsUpdate(next, previous), ...(isOtherKind ? [] : validateFamiliesUpdate(next, previous))];
}

const unchangeable = 'may not change once set';

function validateIpsUpdate({ spec }: Service, { spec: before }: Service): readonly FieldProblem[] {
  const [ips, held] = [spec?.clusterIPs ?? [], before?.clusterIPs ?? []];
  const field = 'spec.clusterIPs';
  if (ips.length === held.length) {
    return ips.flatMap((ip, index) => (ip === held[index] ? [] : [invalid(`${field}[${index}]`, ips, unchangeable)]));
  }
  if (ips.length === 0) return [invalid(`${field}[0]`, undefined, 'primary clusterIP can not be unset')];
  return [
    ...(held.length > 0 && ips[0] !== held[0] ? [invalid(`${field}[0]`, ips, unchangeable)] : []),
    ...(held.length === 2 ? validateRelease(spec?.ipFamilyPolicy, 'clusterIP') : []),
  ];
}

/** Families that are left out follow from the addresses. */
function validateFamiliesUpdate({ spec }: Service, { spec: before }: Service): readonly FieldProblem[] {
  const [families, held] = [spec?.ipFamilies ?? [], before?.ipFamilies ?? []];
  const field = 'spec.ipFamilies[0]';
  if (families.length === held.length)
    return families.flatMap((family, index) => (family === held[index] ? [] : [invalid(field, families, unchangeable)]));
  if (families.length === 0) return [];
  return [
    ...(held.length > 0 && families[0] !== held[0] ? [invalid(field, spec?.clusterIPs, unchangeable)] : []),
    ...(held.length === 2 && families.length === 1 ? validateRelease(spec?.ipFamilyPolicy, 'ipFamily') : []),
  ];
}

function validateRelease(policy: string | undefined, what: string): readonly FieldProblem[] {
  if (policy === 'SingleStack') return [];
  return [invalid('spec.ipFamilyPolicy', policy, `must be set to 'SingleStack' when releasing the secondary ${what}`)];
}

function validateHeadless(service: Service): readonly FieldProblem[] {
  const type = service.spec?.type;
  if (!isHeadless(service) || (type !== 'LoadBalancer' && type !== 'NodePort')) return [];
  return [invalid('spec.clusterIPs[0]', noClusterIp, `may not be set to 'None' for ${type} services`)];
}

function validateLink(service: Service): readonly FieldProblem[] {
  const { clusterIP = '', clusterIPs = [] } = specOf(service);
  const field = 'spec.clusterIPs';
  if (clusterIP === '') return clusterIPs.length === 0 ? [] : [invalid(field, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  if (clusterIPs.length === 0) return [required(field)];
  return clusterIPs[0] === clusterIP ? [] : [invalid(field, clusterIPs, 'first value must match `clusterIP`')];
}

function validateEachIp(clusterIPs: readonly string[], stored: readonly string[]): readonly FieldProblem[] {
  return clusterIPs.flatMap((ip, index) => {
    if (index > 0 || ip !== noClusterIp) return validateIp(ip, `spec.clusterIPs[${index}]`, stored);
    return clusterIPs.length === 1 ? [] : [invalid('spec.clusterIPs', clusterIPs, "'None' must be the first and only value")];
  });
}

function validateFamilies(clusterIPs: readonly string[], ipFamilies: readonly string[]): readonly FieldProblem[] {
  return clusterIPs.flatMap((ip, index) => {
    const wanted = ipFamilies[index];
    if (wanted === undefined || wanted === familyOf(ip)) return [];
    return [invalid(`spec.clusterIPs[${index}]`, ip, `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``)];
  });
}

function familyOf(ip: string): string {
  return parseSloppyIp(ip)?.family ?? '';
}
