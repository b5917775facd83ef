import { homedir } from 'node:os';

/** Every path of a cluster on its host. `runDir` does not survive a reboot, `dataDir` does. */
export interface ClusterPaths {
  readonly runDir: string;
  readonly dataDir: string;
  /** Settings that `up` decided (ports, pod CIDR...), JSON; read by every part. */
  readonly settingsFile: string;
  /** `<runDir>/<part>.process.json`: pid and start time of a part. */
  processFile(part: string): string;
  /** Symbolic link in `runDir` to `dataDir`. */
  readonly dataLink: string;
  readonly supervisorSocket: string;
  readonly pkiDir: string;
  readonly adminKubeconfig: string;
  readonly kubeletKubeconfig: string;
  readonly storeFile: string;
  readonly containerdRoot: string;
  readonly containerdState: string;
  readonly containerdSocket: string;
  readonly containerdConfig: string;
  /** The user's: how the private containerd reaches single registries (mirrors, plain HTTP, certificates), read at each pull. */
  readonly registriesDir: string;
  readonly cniConfigDir: string;
  /** host-local's reservations: they must not outlive the sandboxes that hold them. */
  readonly cniDataDir: string;
  /** The kubelet's root: `pods/`, `plugins/`, `plugins_registry/`. */
  readonly kubeletRoot: string;
  /** One tmpfs a cluster: secret, projected and downwardAPI volumes are folders in it. */
  readonly memoryVolumes: string;
  /** Root of the pods' log directories. */
  readonly podLogs: string;
  /** Links to the logs of single containers, with upstream's names. */
  readonly containerLogs: string;
  /** Logs of the parts themselves. */
  readonly partLogs: string;
}

/** Where a cluster keeps its data unless `--data-dir` says otherwise. */
export function defaultDataDir(name: string): string {
  const root = process.getuid?.() === 0 ? '/var/lib/kubernode' : `${homedir()}/.local/share/kubernode`;
  return `${root}/${name}`;
}

export function clusterPaths(runDir: string, dataDir: string): ClusterPaths {
  return {
    runDir,
    dataDir,
    settingsFile: `${dataDir}/settings.json`,
    processFile: (part) => `${runDir}/${part}.process.json`,
    dataLink: `${runDir}/data`,
    supervisorSocket: `${runDir}/supervisor.sock`,
    pkiDir: `${dataDir}/pki`,
    adminKubeconfig: `${dataDir}/admin.kubeconfig`,
    kubeletKubeconfig: `${dataDir}/kubelet.kubeconfig`,
    storeFile: `${dataDir}/store/state.db`,
    containerdRoot: `${dataDir}/containerd`,
    containerdState: `${runDir}/containerd`,
    containerdSocket: `${runDir}/containerd.sock`,
    containerdConfig: `${dataDir}/containerd.toml`,
    registriesDir: `${dataDir}/registries`,
    cniConfigDir: `${dataDir}/cni/net.d`,
    cniDataDir: `${runDir}/addresses`,
    kubeletRoot: `${dataDir}/kubelet`,
    memoryVolumes: `${runDir}/volumes`,
    podLogs: `${dataDir}/pod-logs`,
    containerLogs: `${dataDir}/container-logs`,
    partLogs: `${dataDir}/logs`,
  };
}

/** Where a node logs whose pods' logs are not in its data folder. Agents know the links beside upstream's own place only. */
export function logPaths(paths: ClusterPaths, podLogs: string | undefined): Pick<ClusterPaths, 'podLogs' | 'containerLogs'> {
  if (podLogs === undefined) return paths;
  return { podLogs, containerLogs: podLogs === '/var/log/pods' ? '/var/log/containers' : paths.containerLogs };
}
