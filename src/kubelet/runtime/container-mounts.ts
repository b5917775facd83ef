import type { Container, VolumeMount } from '#api/types/core-v1.ts';
import { type Mount, MountPropagation } from '#wire/generated/cri.ts';
import type { MountedVolume } from '../ports/volumes.ts';
import { ContainerConfigError } from './environment.ts';
import { expand } from './expansion.ts';

/** A sub path has to be bound safely before a container may have it: the index is the one in `volumeMounts`. */
export interface SubPathWish {
  readonly index: number;
  readonly volume: MountedVolume;
  readonly relative: string;
}

/**
 * The parts of volumes that the container asks for by sub path.
 *
 * @throws {ContainerConfigError} for a sub path that may not be
 */
export function subPathWishes(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume>,
  env: ReadonlyMap<string, string>,
): readonly SubPathWish[] {
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const relative = subPathOf(mount, env);
    return relative === '' ? [] : [{ index, volume: volumeOf(mount, container, volumes), relative }];
  });
}

/**
 * The volumes as the container sees them.
 *
 * @param subPaths bound host path of each sub path, by index in `volumeMounts`
 * @throws {ContainerConfigError} when a volume is not there
 */
export function volumeMounts(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume>,
  subPaths: ReadonlyMap<number, string>,
): readonly Mount[] {
  return (container.volumeMounts ?? []).map((mount, index) => {
    const volume = volumeOf(mount, container, volumes);
    return {
      ...plainMount(mount.mountPath, subPaths.get(index) ?? volume.hostPath),
      readonly: mount.readOnly === true || volume.readOnly,
      selinuxRelabel: volume.relabel,
      propagation: propagationOf(mount.mountPropagation),
    };
  });
}

/** A writable bind mount without any specials. */
export function plainMount(containerPath: string, hostPath: string): Mount {
  return {
    containerPath,
    hostPath,
    readonly: false,
    selinuxRelabel: false,
    propagation: MountPropagation.PROPAGATION_PRIVATE,
    uidMappings: [],
    gidMappings: [],
    recursiveReadOnly: false,
    image: undefined,
    imageSubPath: '',
  };
}

function volumeOf(mount: VolumeMount, container: Container, volumes: ReadonlyMap<string, MountedVolume>): MountedVolume {
  const volume = volumes.get(mount.name);
  if (volume === undefined)
    throw new ContainerConfigError({ message: `cannot find volume "${mount.name}" to mount into container "${container.name}"` });
  return volume;
}

function subPathOf(mount: VolumeMount, env: ReadonlyMap<string, string>): string {
  const expression = mount.subPathExpr ?? '';
  const relative = expression === '' ? (mount.subPath ?? '') : expanded(expression, env);
  if (relative.startsWith('/')) throw new ContainerConfigError({ message: `error SubPath \`${relative}\` must not be an absolute path` });
  if (relative.split('/').includes('..'))
    throw new ContainerConfigError({ message: `unable to provision SubPath \`${relative}\`: must not contain '..'` });
  return relative;
}

function expanded(expression: string, env: ReadonlyMap<string, string>): string {
  const missing: string[] = [];
  const text = expand(expression, (name) => {
    const value = env.get(name) ?? '';
    if (value === '') missing.push(name);
    return value;
  });
  if (missing.length > 0) throw new ContainerConfigError({ message: `missing value for ${missing.join(', ')}` });
  return text;
}

function propagationOf(mode: string | undefined): MountPropagation {
  if (mode === 'HostToContainer') return MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
  return mode === 'Bidirectional' ? MountPropagation.PROPAGATION_BIDIRECTIONAL : MountPropagation.PROPAGATION_PRIVATE;
}
