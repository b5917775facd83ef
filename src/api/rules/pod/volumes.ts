import { duplicate, type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { compareQuantities } from '#api/quantity.ts';
import type { DownwardAPIVolumeFile, KeyToPath, ProjectedVolumeSource, ServiceAccountTokenProjection, Volume } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';
import { labelProblems } from '../names.ts';
import { fileFields, validateFieldRef, validateResourceRef } from './environment.ts';
import { validateDots, validateRelativePath } from './volume-mounts.ts';

const hostPathTypes = ['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'];

export function validateVolumes(volumes: readonly Volume[], field: string): readonly FieldProblem[] {
  const problems = volumes.flatMap((volume, index) => {
    const at = `${field}[${index}]`;
    const name = volume.name ?? '';
    const named: readonly FieldProblem[] =
      name === '' ? [required(`${at}.name`)] : labelProblems(name).map((text) => invalid(`${at}.name`, name, text));
    return [...named, ...validateSource(volume, at)];
  });
  const named = volumes.filter(({ name = '' }) => name !== '');
  const repeated = findDuplicates(
    named,
    ({ name }) => name,
    (volume) => duplicate(`${field}[${volumes.indexOf(volume)}].name`, volume.name),
  );
  return [...problems, ...repeated];
}

function validateSource(volume: Volume, field: string): readonly FieldProblem[] {
  const sources = Object.entries(volume).filter(([key, value]) => key !== 'name' && value !== undefined);
  if (sources.length === 0) return [required(field, 'must specify a volume type')];
  const problems: FieldProblem[] = sources.slice(1).map(([key]) => forbidden(`${field}.${key}`, 'may not specify more than 1 volume type'));
  return [...problems, ...validateFileSources(volume, field), ...validateStorageSources(volume, field)];
}

function validateFileSources(volume: Volume, field: string): readonly FieldProblem[] {
  const { secret, configMap, downwardAPI, projected } = volume;
  const problems: FieldProblem[] = [];
  if (secret !== undefined) {
    if ((secret.secretName ?? '') === '') problems.push(required(`${field}.secret.secretName`));
    problems.push(...validateMode(secret.defaultMode, `${field}.secret.defaultMode`), ...validateItems(secret.items ?? [], `${field}.secret.items`));
  }
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') problems.push(required(`${field}.configMap.name`));
    problems.push(
      ...validateMode(configMap.defaultMode, `${field}.configMap.defaultMode`),
      ...validateItems(configMap.items ?? [], `${field}.configMap.items`),
    );
  }
  if (downwardAPI !== undefined) {
    problems.push(
      ...validateMode(downwardAPI.defaultMode, `${field}.downwardAPI.defaultMode`),
      ...validateFiles(downwardAPI.items ?? [], `${field}.downwardAPI`),
    );
  }
  if (projected !== undefined) problems.push(...validateProjected(projected, `${field}.projected`));
  return problems;
}

function validateStorageSources(volume: Volume, field: string): readonly FieldProblem[] {
  const { emptyDir, hostPath, persistentVolumeClaim, csi, nfs, ephemeral } = volume;
  const problems: FieldProblem[] = [];
  if (emptyDir?.sizeLimit !== undefined && compareQuantities(emptyDir.sizeLimit, '0') < 0) {
    problems.push(forbidden(`${field}.emptyDir.sizeLimit`, 'SizeLimit field must be a valid resource quantity'));
  }
  if (hostPath !== undefined) {
    const { path = '', type = '' } = hostPath;
    if (path === '') problems.push(required(`${field}.hostPath.path`));
    problems.push(...validateDots(path, `${field}.hostPath.path`));
    if (!hostPathTypes.includes(type)) problems.push(notSupported(`${field}.hostPath.type`, type, [...hostPathTypes].sort()));
  }
  if (persistentVolumeClaim !== undefined && (persistentVolumeClaim.claimName ?? '') === '') {
    problems.push(required(`${field}.persistentVolumeClaim.claimName`));
  }
  if (csi !== undefined && (csi.driver ?? '') === '') problems.push(required(`${field}.csi.driver`));
  if (nfs !== undefined) {
    if ((nfs.server ?? '') === '') problems.push(required(`${field}.nfs.server`));
    if ((nfs.path ?? '') === '') problems.push(required(`${field}.nfs.path`));
    else if (!nfs.path.startsWith('/')) problems.push(invalid(`${field}.nfs.path`, nfs.path, 'must be an absolute path'));
  }
  if (ephemeral !== undefined && ephemeral.volumeClaimTemplate === undefined) problems.push(required(`${field}.ephemeral.volumeClaimTemplate`));
  return problems;
}

function validateProjected(projected: ProjectedVolumeSource, field: string): readonly FieldProblem[] {
  const problems = validateMode(projected.defaultMode, `${field}.defaultMode`).slice();
  const paths = new Set<string>();
  const claim = (path: string | undefined, name: string, at: string) => {
    if (path === undefined || path === '') return;
    if (paths.has(path)) problems.push(invalid(at, name, 'conflicting duplicate paths'));
    paths.add(path);
  };
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const at = `${field}.sources[${index}]`;
    const { secret, configMap, downwardAPI, serviceAccountToken } = source;
    const given = Object.entries(source).filter(([, value]) => value !== undefined);
    if (given.length === 0) problems.push(required(at));
    problems.push(...given.slice(1).map(([key]) => forbidden(`${at}.${key}`, 'may not specify more than 1 volume type')));
    for (const [key, projection] of [
      ['secret', secret],
      ['configMap', configMap],
    ] as const) {
      if (projection === undefined) continue;
      if ((projection.name ?? '') === '') problems.push(required(`${at}.${key}.name`));
      problems.push(...validateItems(projection.items ?? [], `${at}.${key}.items`));
      for (const item of projection.items ?? []) claim(item.path, projection.name ?? '', at);
    }
    if (downwardAPI !== undefined) {
      problems.push(...validateFiles(downwardAPI.items ?? [], `${at}.downwardAPI`));
      for (const item of downwardAPI.items ?? []) claim(item.path, item.path, at);
    }
    if (serviceAccountToken !== undefined) {
      problems.push(...validateToken(serviceAccountToken, `${at}.serviceAccountToken`));
      claim(serviceAccountToken.path, serviceAccountToken.path, at);
    }
  }
  return problems;
}

function validateToken(token: ServiceAccountTokenProjection, field: string): readonly FieldProblem[] {
  const seconds = token.expirationSeconds ?? 3600;
  const problems: FieldProblem[] = [];
  if (seconds < 600) problems.push(invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32) problems.push(invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if ((token.path ?? '') === '') problems.push(required(`${field}.path`));
  return [...problems, ...validateFilePath(token.path ?? '', `${field}.path`)];
}

function validateItems(items: readonly KeyToPath[], field: string): readonly FieldProblem[] {
  return items.flatMap(({ key = '', path = '', mode }, index) => {
    const at = `${field}[${index}]`;
    return [
      ...(key === '' ? [required(`${at}.key`)] : []),
      ...(path === '' ? [required(`${at}.path`)] : validateFilePath(path, `${at}.path`)),
      ...validateMode(mode, `${at}.mode`),
    ];
  });
}

function validateFiles(items: readonly DownwardAPIVolumeFile[], field: string): readonly FieldProblem[] {
  return items.flatMap(({ path = '', fieldRef, resourceFieldRef, mode }) => {
    const problems: FieldProblem[] = path === '' ? [required(`${field}.path`)] : [...validateFilePath(path, `${field}.path`)];
    if (fieldRef !== undefined) {
      problems.push(...validateFieldRef(fieldRef, fileFields, `${field}.fieldRef`));
      if (resourceFieldRef !== undefined)
        problems.push(invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    } else if (resourceFieldRef !== undefined) problems.push(...validateResourceRef(resourceFieldRef, `${field}.resourceFieldRef`, true));
    else problems.push(required(field, 'one of fieldRef and resourceFieldRef is required'));
    return [...problems, ...validateMode(mode, `${field}.mode`)];
  });
}

/** A file of a volume: below it, and not with a name that the volume's own bookkeeping uses. */
function validateFilePath(path: string, field: string): readonly FieldProblem[] {
  const problems = validateRelativePath(path, field);
  if (!path.startsWith('..') || path.startsWith('../') || path === '..') return problems;
  return [...problems, invalid(field, path, "must not start with '..'")];
}

function validateMode(mode: number | undefined, field: string): readonly FieldProblem[] {
  return mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}
