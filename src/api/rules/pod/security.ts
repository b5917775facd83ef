import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { PodSpec, SeccompProfile, SecurityContext, Sysctl } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';

const idMax = 2 ** 31 - 1;
const seccompTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

export function validateSecurityContext(context: SecurityContext, field: string): readonly FieldProblem[] {
  const { privileged, allowPrivilegeEscalation, capabilities, procMount } = context;
  const problems = [...validateIds(context, field), ...validateSeccomp(context.seccompProfile, `${field}.seccompProfile`)];
  if (procMount !== undefined && procMount !== 'Default' && procMount !== 'Unmasked') {
    problems.push(notSupported(`${field}.procMount`, procMount, ['Default', 'Unmasked']));
  }
  if (allowPrivilegeEscalation !== false) return problems;
  if (privileged === true) problems.push(invalid(field, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  if (capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    problems.push(invalid(field, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'));
  }
  return problems;
}

export function validatePodSecurity(spec: PodSpec, field: string): readonly FieldProblem[] {
  const context = spec.securityContext ?? {};
  const at = `${field}.securityContext`;
  const problems = [...validateIds(context, at), ...validateSeccomp(context.seccompProfile, `${at}.seccompProfile`)];
  problems.push(...validateId(context.fsGroup, `${at}.fsGroup`), ...validateSysctls(context.sysctls ?? [], `${at}.sysctls`));
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    problems.push(...validateId(group, `${at}.supplementalGroups[${index}]`));
  const { fsGroupChangePolicy: change, supplementalGroupsPolicy: groups } = context;
  if (change !== undefined && !['Always', 'OnRootMismatch'].includes(change)) {
    problems.push(notSupported(`${at}.fsGroupChangePolicy`, change, ['Always', 'OnRootMismatch']));
  }
  if (groups !== undefined && !['Merge', 'Strict'].includes(groups)) {
    problems.push(notSupported(`${at}.supplementalGroupsPolicy`, groups, ['Merge', 'Strict']));
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    problems.push(invalid(`${field}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  }
  return [...problems, ...validateUsers(spec, field)];
}

/** What of the host a pod with users of its own may not share, and what only such a pod may see. */
function validateUsers(spec: PodSpec, field: string): readonly FieldProblem[] {
  if (spec.hostUsers === false) {
    const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((key) => spec[key] === true);
    return shared.map((key) => forbidden(`${field}.${key}`, 'when `hostUsers` is false'));
  }
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ securityContext }, index) => {
      const at = `${field}.${list}[${index}].securityContext.procMount`;
      return securityContext?.procMount === 'Unmasked' ? [invalid(at, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')] : [];
    }),
  );
}

function validateIds(context: Pick<SecurityContext, 'runAsUser' | 'runAsGroup'>, field: string): readonly FieldProblem[] {
  return [...validateId(context.runAsUser, `${field}.runAsUser`), ...validateId(context.runAsGroup, `${field}.runAsGroup`)];
}

function validateId(id: number | undefined, field: string): readonly FieldProblem[] {
  return id === undefined || (id >= 0 && id <= idMax) ? [] : [invalid(field, id, `must be between 0 and ${idMax}, inclusive`)];
}

function validateSeccomp(profile: SeccompProfile | undefined, field: string): readonly FieldProblem[] {
  if (profile === undefined) return [];
  const { type = '', localhostProfile } = profile;
  if (type === '') return [required(`${field}.type`, 'type is required when seccompProfile is set')];
  if (!seccompTypes.includes(type)) return [notSupported(`${field}.type`, type, seccompTypes)];
  if (type === 'Localhost')
    return localhostProfile === undefined ? [required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost')] : [];
  return localhostProfile === undefined
    ? []
    : [invalid(`${field}.localhostProfile`, localhostProfile, 'can only be set when seccomp type is Localhost')];
}

function validateSysctls(sysctls: readonly Sysctl[], field: string): readonly FieldProblem[] {
  const part = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const pattern = `(${part}[\\./])*${part}`;
  const isName = new RegExp(`^${pattern}$`);
  const problems = sysctls.flatMap(({ name = '' }, index): readonly FieldProblem[] => {
    if (name === '') return [required(`${field}[${index}].name`)];
    if (name.length <= 253 && isName.test(name)) return [];
    return [invalid(`${field}[${index}].name`, name, `must have at most 253 characters and match regex ^${pattern}$`)];
  });
  const repeated = findDuplicates(
    sysctls,
    ({ name }) => (name ?? '').replaceAll('/', '.'),
    ({ name }, index) => duplicate(`${field}[${index}].name`, name),
  );
  return [...problems, ...repeated];
}
