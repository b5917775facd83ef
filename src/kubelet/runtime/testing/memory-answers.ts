import { Unsupported } from '#wire/cri/errors.ts';
import type { ContainerConfig, ContainerStats, ContainerStatus, Image, ImageFsInfoResponse } from '#wire/generated/cri.ts';
import { ContainerState } from '#wire/generated/cri.ts';

export function imageOf(name: string): Image {
  return { id: `sha256:${name}`, repoTags: [name], repoDigests: [], size: 1, uid: undefined, username: '', spec: undefined, pinned: false };
}

export function matches(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>> | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => labels[key] === value);
}

/** A container that was just created. */
export function createdStatus(id: string, config: ContainerConfig, logDirectory: string, createdAt: number): ContainerStatus {
  return {
    id,
    metadata: config.metadata,
    state: ContainerState.CONTAINER_CREATED,
    createdAt: createdAt,
    startedAt: 0,
    finishedAt: 0,
    exitCode: 0,
    image: { image: config.image?.userSpecifiedImage ?? '', annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
    imageRef: config.image?.image ?? '',
    reason: '',
    message: '',
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: `${logDirectory}/${config.logPath}`,
    resources: undefined,
    imageId: '',
    user: undefined,
    stopSignal: 0,
  };
}

/** What runs nothing uses nothing. */
export const noContainerStats = async (): Promise<readonly ContainerStats[]> => [];
export const noFilesystems = async (): Promise<ImageFsInfoResponse> => ({ imageFilesystems: [], containerFilesystems: [] });

export const notInMemory = async (): Promise<never> => {
  throw new Unsupported({ message: 'not in memory' });
};
