export interface KubeletRoots {
  /** The kubelet's root: `pods/`, `plugins/`. */
  readonly root: string;
  /** Root of the pods' log directories. */
  readonly podLogs: string;
  /** Links to the logs of single containers, for agents that know them by these names; absent: none are made. */
  readonly containerLogs?: string;
}

interface PodName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Every path that the kubelet has for a pod. */
export interface PodPaths {
  readonly pod: string;
  readonly volumes: string;
  readonly plugins: string;
  readonly hostsFile: string;
  readonly logs: string;
  /** Where a container's last words are kept. */
  container(name: string): string;
  containerLogs(name: string): string;
}

export function podPaths(roots: KubeletRoots, pod: PodName): PodPaths {
  const dir = podDirectory(roots, pod.uid);
  const logs = `${roots.podLogs}/${pod.namespace}_${pod.name}_${pod.uid}`;
  return {
    pod: dir,
    volumes: `${dir}/volumes`,
    plugins: `${dir}/plugins`,
    hostsFile: `${dir}/etc-hosts`,
    logs,
    container: (name) => `${dir}/containers/${name}`,
    containerLogs: (name) => `${logs}/${name}`,
  };
}

export function podsDirectory(roots: KubeletRoots): string {
  return `${roots.root}/pods`;
}

export function podDirectory(roots: KubeletRoots, uid: string): string {
  return `${podsDirectory(roots)}/${uid}`;
}

/** Uid of the pod whose logs are in that directory. */
export function uidOfLogDirectory(name: string): string | undefined {
  const parts = name.split('_');
  return parts.length === 3 ? parts[2] : undefined;
}
