import type { Registry } from 'prom-client';
import { quantityToNumber } from '#api/quantity.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import type { BatchAnswer, PodStartupBatch } from '#startup/pod-startup.ts';
import type { ServingSource } from './certificates/server-identity.ts';
import { type KubeletConfiguration, parseKubeletConfiguration } from './configuration/kubelet-configuration.ts';
import type { KubeletRoots } from './paths.ts';
import { defaultEngineSettings, type EngineSettings } from './pod-engine.ts';
import type { FaultPoint } from './pod-start/fault-points.ts';
import type { CgroupsPort } from './ports/cgroups.ts';
import type { CpuTopologyPort } from './ports/cpu-topology.ts';
import type { DownloadsPort } from './ports/downloads.ts';
import type { FilesPort } from './ports/files.ts';
import type { FolderWatchPort } from './ports/folder-watch.ts';
import type { HostPort } from './ports/host.ts';
import type { HttpGetPort } from './ports/http-get.ts';
import type { KeyAndCertificate, KeysPort } from './ports/keys.ts';
import type { LogFilesPort } from './ports/log-files.ts';
import type { LogindPort } from './ports/logind.ts';
import type { ManifestsPort } from './ports/manifests.ts';
import type { MounterPort } from './ports/mounter.ts';
import type { OwnProcessPort } from './ports/own-process.ts';
import type { PluginProgramsPort } from './ports/plugin-programs.ts';
import type { PluginSocketsPort } from './ports/plugin-sockets.ts';
import type { ProbersPort } from './ports/probers.ts';
import type { RuntimePort } from './ports/runtime.ts';
import type { SlicesPort } from './ports/slices.ts';
import type { UsagePort } from './ports/usage.ts';
import { defaultFollowSettings, type FollowSettings } from './runtime/follow-runtime.ts';
import type { CredentialProvider } from './runtime/images/credential-providers/provider-config.ts';
import type { DockerConfigFile } from './runtime/images/docker-files.ts';
import { imagePullerSettings } from './runtime/images/puller-settings.ts';
import type { GarbageRules } from './upkeep/plan-garbage.ts';
import type { LogRotationSettings } from './upkeep/rotate-logs.ts';

export interface KubeletConfig {
  readonly nodeName: string;
  /** The first of its addresses: the one that counts. */
  readonly nodeAddress: string;
  /** One, or one of each family. */
  readonly nodeAddresses: readonly string[];
  /** Those of them that somebody named; none: they were found. */
  readonly givenAddresses: readonly string[];
  /** 0: any free one. */
  readonly kubeletPort: number;
  /** Where the kubelet's server listens. */
  readonly listenAddress: string;
  /** The Kubernetes that we claim to be: `v1.36.0`. */
  readonly version: string;
  readonly roots: KubeletRoots;
  /** A tmpfs: volumes that must not reach a disk are folders in it. */
  readonly memoryVolumes: string;
  /** Below the root of each cgroup hierarchy. */
  readonly cgroupRoot: string;
  readonly clusterDomain: string;
  readonly clusterDns: readonly string[];
  /** false: the cluster was made without DNS, and pods that get the node's own need no warning. */
  readonly expectsClusterDns: boolean;
  /** The text of the file. */
  readonly resolvConf: string;
  readonly configuration: KubeletConfiguration;
  /** What the command line says beside the configuration, by flag without its dashes. */
  readonly flags?: Readonly<Partial<Record<string, string>>>;
  /** A controller of the cloud completes the node. */
  readonly hasExternalCloud: boolean;
  /** Beside those of every node. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly certificates: {
    /** Of those that the kubelet asks for, and of one that it makes itself. */
    readonly directory: string;
    readonly serving: ServingSource;
    /** Whoever comes with a certificate of these authorities is who it says; absent: nobody. */
    readonly clientCaFile: string | undefined;
    readonly rotateClient: boolean;
  };
  /** Where the node's own credentials for registries may be; the first that is there counts. */
  readonly dockerConfigs: readonly DockerConfigFile[];
  /** Programs that know credentials for registries. */
  readonly credentialProviders: CredentialProviders | undefined;
  readonly timings: KubeletTimings;
}

export interface CredentialProviders {
  /** Of the programs. */
  readonly directory: string;
  readonly providers: readonly CredentialProvider[];
}

/** What the kubelet needs of the world; `bin` joins it with the real one. */
export interface KubeletHost {
  readonly client: Client;
  readonly runtime: RuntimePort;
  readonly downloads: DownloadsPort;
  readonly files: FilesPort;
  readonly folderWatch: FolderWatchPort;
  readonly manifests: ManifestsPort;
  readonly mounter: MounterPort;
  readonly cgroups: CgroupsPort;
  /** Asked for where systemd names cgroups. */
  readonly slices: () => Promise<SlicesPort>;
  readonly host: HostPort;
  readonly usage: UsagePort;
  readonly logFiles: LogFilesPort;
  readonly cpuTopology: CpuTopologyPort;
  /** Asked for only where pods are to end in order when the host goes down. */
  readonly logind: () => Promise<LogindPort>;
  readonly pluginPrograms: PluginProgramsPort;
  readonly pluginSockets: PluginSocketsPort;
  readonly probers: ProbersPort;
  readonly httpGet: HttpGetPort;
  readonly keys: KeysPort;
  /** Absent: nobody looks into this process. */
  readonly process?: OwnProcessPort;
  /** Makes the connections to the API server anew, with this certificate where one is given. */
  readonly redial: (pair?: KeyAndCertificate) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of what is counted before the kubelet runs; absent: a new one. */
  readonly registry?: Registry;
  /** 0 <= n < 1 */
  readonly random: () => number;
  /** Takes start-up records to whoever serves them. */
  readonly ship: (batch: PodStartupBatch, signal: AbortSignal) => Promise<BatchAnswer>;
  /** Where tests have the process end. */
  readonly faults?: FaultPoint | undefined;
  /** The node is registered and pods are looked after. */
  readonly onReady: (port: number) => void;
}

export interface KubeletTimings {
  readonly engine: EngineSettings;
  readonly follow: FollowSettings;
  readonly nodeStatusMs: number;
  readonly nodeLeaseMs: number;
  readonly housekeepingMs: number;
  readonly garbageMs: number;
  readonly garbageRules: GarbageRules;
  readonly imageGcMs: number;
  readonly logRotationMs: number;
  readonly logRotation: LogRotationSettings;
}

/** Upstream's numbers where it has one; orphans are looked for less often, because every known pod takes down its own. */
const defaultsOf = (configuration: KubeletConfiguration) => ({
  podSyncMs: configuration.syncFrequency,
  podRetryMs: defaultEngineSettings.worker.retryMs,
  podLongestWaitMs: defaultEngineSettings.worker.longestWaitMs,
  crashBackoffBaseMs: defaultEngineSettings.start.crashBackoff.baseMs,
  crashBackoffMaxMs: configuration.crashLoopBackOff.maxContainerRestartPeriod,
  imageBackoffBaseMs: defaultEngineSettings.images.backoff.baseMs,
  imageBackoffMaxMs: defaultEngineSettings.images.backoff.maxMs,
  runtimeRelistMs: defaultFollowSettings.relistMs,
  nodeStatusMs: configuration.nodeStatusUpdateFrequency,
  nodeLeaseRenewMs: configuration.nodeLeaseDurationSeconds * 250,
  housekeepingMs: 10_000,
  containerGcMs: 60_000,
  deadContainersPerName: 1,
  deadContainersInAll: -1,
  deadContainerMinimumAgeMs: 0,
  imageGcMs: 300_000,
  logRotationMs: configuration.containerLogMonitorInterval,
  containerLogMaxBytes: quantityToNumber(configuration.containerLogMaxSize),
  containerLogMaxFiles: configuration.containerLogMaxFiles,
  containerLogMaxWorkers: configuration.containerLogMaxWorkers,
});

/** What `kubeletTimings` takes beside the configuration. */
export const kubeletTimingNames: readonly string[] = Object.keys(defaultsOf(parseKubeletConfiguration({}, 'defaults')));

/** @param given periods and limits by the names above that differ from the defaults; other parts' names are passed over */
export function kubeletTimings(configuration: KubeletConfiguration, given: Readonly<Record<string, number>>): KubeletTimings {
  const defaults = defaultsOf(configuration);
  const of = (name: keyof typeof defaults): number => given[name] ?? defaults[name];
  const backoff = (baseMs: number, maxMs: number) => ({ baseMs, maxMs, forgetAfterMs: 2 * maxMs });
  const { worker, status, start } = defaultEngineSettings;
  return {
    engine: {
      worker: { ...worker, syncMs: of('podSyncMs'), retryMs: of('podRetryMs'), longestWaitMs: of('podLongestWaitMs') },
      status,
      start: { ...start, crashBackoff: backoff(of('crashBackoffBaseMs'), of('crashBackoffMaxMs')), retryMs: of('podRetryMs') },
      images: { ...imagePullerSettings(configuration), backoff: backoff(of('imageBackoffBaseMs'), of('imageBackoffMaxMs')) },
    },
    follow: { ...defaultFollowSettings, relistMs: of('runtimeRelistMs') },
    nodeStatusMs: of('nodeStatusMs'),
    nodeLeaseMs: of('nodeLeaseRenewMs'),
    housekeepingMs: of('housekeepingMs'),
    garbageMs: of('containerGcMs'),
    garbageRules: {
      keepPerName: of('deadContainersPerName'),
      keepInAll: of('deadContainersInAll'),
      minimumAgeMs: of('deadContainerMinimumAgeMs'),
    },
    imageGcMs: of('imageGcMs'),
    logRotationMs: of('logRotationMs'),
    logRotation: { maxBytes: of('containerLogMaxBytes'), maxFiles: of('containerLogMaxFiles'), workers: of('containerLogMaxWorkers') },
  };
}
