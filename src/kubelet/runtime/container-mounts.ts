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
 * The parts of volumes that the container asks for by sub path; those of images are the runtime's to find.
 *
 * @throws {ContainerConfigError} for a sub path that may not be
 */
export function subPathWishes(
  container: Container,
  { volumes, images, env }: Pick<VolumeMountsInput, 'volumes' | 'images' | 'env'>,
): readonly SubPathWish[] {
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const relative = images.has(mount.name) ? '' : subPathOf(mount, env);
    return relative === '' ? [] : [{ index, volume: volumeOf(mount, container, volumes), relative }];
  });
}

export interface VolumeMountsInput {
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  /** Bound host path of each sub path, by index in `volumeMounts`. */
  readonly subPaths: ReadonlyMap<number, string>;
  /** Images that are volumes: what the runtime calls them, by volume. */
  readonly images: ReadonlyMap<string, string>;
  readonly env: ReadonlyMap<string, string>;
  /** Whether the runtime can make what is mounted below a read-only mount read-only too. */
  readonly canRecursiveReadOnly: boolean;
}

/**
 * The volumes as the container sees them.
 *
 * @throws {ContainerConfigError} when a volume is not there, or the runtime cannot do what is asked
 */
export function volumeMounts(container: Container, input: VolumeMountsInput): readonly Mount[] {
  return (container.volumeMounts ?? []).map((mount, index) => {
    const image = input.images.get(mount.name);
    if (image !== undefined) return imageMount(mount, image, input.env);
    const volume = volumeOf(mount, container, input.volumes);
    return {
      ...plainMount(mount.mountPath, input.subPaths.get(index) ?? volume.hostPath),
      readonly: mount.readOnly === true || volume.readOnly,
      recursiveReadOnly: recursiveReadOnly(mount, input.canRecursiveReadOnly),
      selinuxRelabel: volume.relabel,
      propagation: propagationOf(mount.mountPropagation),
    };
  });
}

/** Whether some mount needs to know what the runtime's handler can do. */
export function asksRecursiveReadOnly(container: Container): boolean {
  return (container.volumeMounts ?? []).some(({ recursiveReadOnly: wish = 'Disabled' }) => wish !== 'Disabled');
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

/** The runtime finds the sub path itself: an image is nobody's to change. */
function imageMount(mount: VolumeMount, image: string, env: ReadonlyMap<string, string>): Mount {
  return {
    ...plainMount(mount.mountPath, ''),
    readonly: true,
    image: { image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
    imageSubPath: subPathOf(mount, env),
  };
}

function recursiveReadOnly({ name, readOnly, mountPropagation, recursiveReadOnly: wish = 'Disabled' }: VolumeMount, isAble: boolean): boolean {
  if (wish === 'Disabled' || wish === '') return false;
  const refuse = (what: string): never => {
    throw new ContainerConfigError({ message: `volume "${name}" requested recursive read-only mode, but ${what}` });
  };
  if (wish !== 'IfPossible' && wish !== 'Enabled') return refuse(`"${wish}" is no such mode`);
  if (readOnly !== true) return refuse('it is not read-only');
  if (mountPropagation !== undefined && mountPropagation !== 'None') return refuse('it is not compatible with propagation');
  if (!isAble && wish === 'Enabled') return refuse('it is not supported by the runtime');
  return isAble;
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
