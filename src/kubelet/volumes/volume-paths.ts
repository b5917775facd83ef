export interface VolumeRoots {
  /** The kubelet's root. */
  readonly root: string;
  /** A tmpfs: content that must not reach a disk is in folders of it. */
  readonly memory: string;
}

/** `kubernetes.io~...`: below it a folder a volume. Source: upstream's layout. */
export function pluginDirectory(roots: VolumeRoots, podUid: string, plugin: string): string {
  return `${podVolumes(roots, podUid).volumes}/${plugin}`;
}

/** The same for content in memory. */
export function memoryPluginDirectory(roots: VolumeRoots, podUid: string, plugin: string): string {
  return `${podVolumes(roots, podUid).memory}/${plugin}`;
}

/** Says that an emptyDir was completely set up once: its content is the pod's own from then on. */
export function readyMarker(roots: VolumeRoots, podUid: string, volumeName: string): { readonly directory: string; readonly file: string } {
  const directory = `${podVolumes(roots, podUid).plugins}/kubernetes.io~empty-dir/${volumeName}`;
  return { directory, file: `${directory}/ready` };
}

export function subPathTarget(roots: VolumeRoots, podUid: string, volumeName: string, containerName: string, index: number): string {
  return `${podVolumes(roots, podUid).subPaths}/${volumeName}/${containerName}/${index}`;
}

/** Every folder that holds volumes of a pod. */
export function podVolumes({ root, memory }: VolumeRoots, podUid: string) {
  const pod = `${root}/pods/${podUid}`;
  return { pod, volumes: `${pod}/volumes`, plugins: `${pod}/plugins`, subPaths: `${pod}/volume-subpaths`, memory: `${memory}/${podUid}` } as const;
}
