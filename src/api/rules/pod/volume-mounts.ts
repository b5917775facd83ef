import { type FieldProblem, forbidden, invalid, notFound, notSupported, required } from '#api/field-problem.ts';
import type { Volume, VolumeDevice, VolumeMount } from '#api/types/core-v1.ts';

/** What of a pod its mounts may refer to. */
export interface MountContext {
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly isPrivileged: boolean;
  readonly devices: readonly VolumeDevice[];
}

const propagations = ['None', 'HostToContainer', 'Bidirectional'];

export function validateVolumeMounts(mounts: readonly VolumeMount[], context: MountContext, field: string): readonly FieldProblem[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const { name = '', mountPath = '', subPath = '', subPathExpr = '', mountPropagation = '' } = mount;
    const problems: FieldProblem[] = [];
    if (name === '') problems.push(required(`${at}.name`));
    else if (!context.volumes.has(name)) problems.push(notFound(`${at}.name`, name));
    if (mountPath === '') problems.push(required(`${at}.mountPath`));
    else if (paths.has(mountPath)) problems.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (context.devices.some((device) => device.devicePath === mountPath)) {
      problems.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    problems.push(...validateRelativePath(subPath, `${at}.subPath`), ...validateRelativePath(subPathExpr, `${at}.subPathExpr`));
    if (subPath !== '' && subPathExpr !== '')
      problems.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    problems.push(...validatePropagation(mountPropagation, context.isPrivileged, `${at}.mountPropagation`));
    return [...problems, ...validateRecursive(mount, `${at}.recursiveReadOnly`)];
  });
}

export function validateVolumeDevices(devices: readonly VolumeDevice[], context: MountContext, field: string): readonly FieldProblem[] {
  const seen = { name: new Set<string>(), devicePath: new Set<string>() };
  return devices.flatMap((device, index) => {
    const at = `${field}[${index}]`;
    const { name = '', devicePath = '' } = device;
    const problems: FieldProblem[] = [];
    const volume = context.volumes.get(name);
    if (name === '') problems.push(required(`${at}.name`));
    else if (volume === undefined) problems.push(notFound(`${at}.name`, name));
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      problems.push(invalid(`${at}.name`, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'));
    }
    if (devicePath === '') problems.push(required(`${at}.devicePath`));
    else problems.push(...validateDots(devicePath, `${at}.devicePath`));
    for (const key of ['name', 'devicePath'] as const) {
      if (device[key] !== undefined && seen[key].has(device[key])) problems.push(invalid(`${at}.${key}`, device[key], 'must be unique'));
      seen[key].add(device[key]);
    }
    return problems;
  });
}

/** A path below a volume that cannot lead out of it. */
export function validateRelativePath(path: string, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : [];
  return [...problems, ...validateDots(path, field)];
}

export function validateDots(path: string, field: string): readonly FieldProblem[] {
  return path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];
}

function validatePropagation(propagation: string, isPrivileged: boolean, field: string): readonly FieldProblem[] {
  if (propagation === '') return [];
  if (!propagations.includes(propagation)) return [notSupported(field, propagation, [...propagations].sort())];
  return propagation === 'Bidirectional' && !isPrivileged
    ? [forbidden(field, 'Bidirectional mount propagation is available only to privileged containers')]
    : [];
}

function validateRecursive({ readOnly, recursiveReadOnly = '', mountPropagation = '' }: VolumeMount, field: string): readonly FieldProblem[] {
  if (recursiveReadOnly === '' || recursiveReadOnly === 'Disabled') return [];
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    return [notSupported(field, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible'])];
  }
  if (readOnly !== true) return [forbidden(field, 'may only be specified when readOnly is true')];
  const isPlain = mountPropagation === '' || mountPropagation === 'None';
  return isPlain ? [] : [forbidden(field, 'may only be specified when mountPropagation is None or not specified')];
}
