import { InvalidInput } from '#base/errors.ts';
import { configurationProblems } from './check-configuration.ts';
import {
  anything,
  decimal,
  duration,
  flag,
  InvalidFields,
  inOne,
  listOf,
  mapOf,
  neverEmpty,
  oneOf,
  optional,
  type Parsed,
  table,
  text,
  textMap,
  texts,
  whole,
} from './field.ts';

const second = 1000;
const minute = 60 * second;

const taint = table({ key: text(''), value: text(''), effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'), timeAdded: optional(text('')) });

/** Upstream's fields and defaults (kubelet.config.k8s.io/v1beta1); durations are milliseconds once they are read. */
export const kubeletFields = {
  enableServer: flag(true),
  staticPodPath: text(''),
  staticPodURL: text(''),
  staticPodURLHeader: mapOf(texts([])),
  syncFrequency: neverEmpty(duration(minute)),
  fileCheckFrequency: neverEmpty(duration(20 * second)),
  httpCheckFrequency: neverEmpty(duration(20 * second)),
  /** '' and absent: 0.0.0.0 and 10250, or what `up` has chosen. 0 is any free port. */
  address: text(''),
  port: optional(whole(0, 0, 65_535)),
  readOnlyPort: whole(0, 0, 65_535),
  tlsCertFile: text(''),
  tlsPrivateKeyFile: text(''),
  rotateCertificates: flag(false),
  serverTLSBootstrap: flag(false),
  authentication: table({
    x509: table({ clientCAFile: text('') }),
    webhook: table({ enabled: flag(true), cacheTTL: duration(2 * minute) }),
    anonymous: table({ enabled: flag(false) }),
  }),
  authorization: table({
    mode: oneOf('Webhook', 'AlwaysAllow'),
    webhook: table({ cacheAuthorizedTTL: duration(5 * minute), cacheUnauthorizedTTL: duration(30 * second) }),
  }),
  tlsCipherSuites: texts([]),
  /** Lower ones are not spoken, and higher ones cannot be asked for. */
  tlsMinVersion: neverEmpty(oneOf('VersionTLS12')),
  registryPullQPS: whole(5, 0),
  registryBurst: neverEmpty(whole(10, 0)),
  eventRecordQPS: whole(50, 0),
  eventBurst: neverEmpty(whole(100, 0)),
  kubeAPIQPS: whole(50, -1),
  kubeAPIBurst: neverEmpty(whole(100, 0)),
  contentType: neverEmpty(text('application/json')),
  enableDebuggingHandlers: flag(true),
  enableProfilingHandler: flag(true),
  enableDebugFlagsHandler: flag(true),
  enableContentionProfiling: flag(false),
  enableSystemLogHandler: flag(true),
  healthzPort: whole(0, 0, 65_535),
  healthzBindAddress: neverEmpty(text('127.0.0.1')),
  clusterDomain: text(''),
  clusterDNS: texts([]),
  resolvConf: text('/etc/resolv.conf'),
  streamingConnectionIdleTimeout: neverEmpty(duration(240 * minute)),
  nodeStatusUpdateFrequency: neverEmpty(duration(10 * second)),
  nodeStatusReportFrequency: neverEmpty(duration(5 * minute)),
  nodeLeaseDurationSeconds: neverEmpty(whole(40, 1)),
  nodeStatusMaxImages: whole(50, -1),
  imageMinimumGCAge: neverEmpty(duration(2 * minute)),
  imageMaximumGCAge: duration(0),
  imageGCHighThresholdPercent: whole(85, 0, 100),
  imageGCLowThresholdPercent: whole(80, 0, 100),
  volumeStatsAggPeriod: neverEmpty(duration(minute)),
  kubeletCgroups: text(''),
  systemCgroups: text(''),
  cgroupRoot: text(''),
  cgroupsPerQOS: flag(true),
  cgroupDriver: neverEmpty(oneOf('cgroupfs', 'systemd')),
  cpuManagerPolicy: neverEmpty(oneOf('none', 'static')),
  cpuManagerPolicyOptions: textMap({}),
  cpuManagerReconcilePeriod: neverEmpty(duration(10 * second)),
  memoryManagerPolicy: neverEmpty(oneOf('None', 'Static')),
  reservedMemory: listOf(table({ numaNode: whole(0, 0), limits: textMap({}) })),
  topologyManagerPolicy: neverEmpty(oneOf('none', 'best-effort', 'restricted', 'single-numa-node')),
  topologyManagerScope: neverEmpty(oneOf('container', 'pod')),
  topologyManagerPolicyOptions: textMap({}),
  qosReserved: textMap({}),
  runtimeRequestTimeout: neverEmpty(duration(2 * minute)),
  hairpinMode: neverEmpty(text('promiscuous-bridge')),
  maxPods: neverEmpty(whole(110, 0)),
  podCIDR: text(''),
  podPidsLimit: whole(-1, Number.MIN_SAFE_INTEGER),
  podsPerCore: whole(0, 0),
  cpuCFSQuota: flag(true),
  cpuCFSQuotaPeriod: duration(100),
  maxOpenFiles: neverEmpty(whole(1_000_000, 0)),
  serializeImagePulls: optional(flag(true)),
  maxParallelImagePulls: optional(whole(1, 1)),
  /** Absent: the defaults of `defaultEvictionHard`. */
  evictionHard: optional(textMap({})),
  evictionSoft: textMap({}),
  evictionSoftGracePeriod: textMap({}),
  evictionPressureTransitionPeriod: neverEmpty(duration(5 * minute)),
  evictionMaxPodGracePeriod: whole(0, 0),
  evictionMinimumReclaim: textMap({}),
  mergeDefaultEvictionSettings: flag(false),
  enableControllerAttachDetach: flag(true),
  protectKernelDefaults: flag(false),
  makeIPTablesUtilChains: flag(true),
  iptablesMasqueradeBit: whole(14, 0, 31),
  iptablesDropBit: whole(15, 0, 31),
  featureGates: mapOf(flag(false)),
  failSwapOn: flag(false),
  memorySwap: table({ swapBehavior: oneOf('', 'NoSwap', 'LimitedSwap') }),
  containerLogMaxSize: neverEmpty(text('10Mi')),
  containerLogMaxFiles: whole(5, 2),
  containerLogMaxWorkers: whole(1, 1),
  containerLogMonitorInterval: neverEmpty(duration(10 * second)),
  configMapAndSecretChangeDetectionStrategy: neverEmpty(oneOf('Watch', 'Cache', 'Get')),
  systemReserved: textMap({}),
  kubeReserved: textMap({}),
  reservedSystemCPUs: text(''),
  systemReservedCgroup: text(''),
  kubeReservedCgroup: text(''),
  enforceNodeAllocatable: texts(['pods']),
  allowedUnsafeSysctls: texts([]),
  volumePluginDir: neverEmpty(text('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/')),
  providerID: text(''),
  shutdownGracePeriod: duration(0),
  shutdownGracePeriodCriticalPods: duration(0),
  shutdownGracePeriodByPodPriority: listOf(table({ priority: whole(0, -2_147_483_648, 2_147_483_647), shutdownGracePeriodSeconds: whole(0, 0) })),
  enableSystemLogQuery: flag(false),
  kernelMemcgNotification: flag(false),
  showHiddenMetricsForVersion: text(''),
  logging: anything,
  tracing: anything,
  draManagerReconcilePeriod: neverEmpty(duration(minute)),
  registerWithTaints: listOf(taint),
  registerNode: flag(true),
  memoryThrottlingFactor: decimal(0.9, 0, 1),
  memoryReservationPolicy: neverEmpty(oneOf('None', 'TieredReservation')),
  seccompDefault: flag(false),
  localStorageCapacityIsolation: flag(true),
  containerRuntimeEndpoint: text(''),
  imageServiceEndpoint: text(''),
  podLogsDir: text(''),
  crashLoopBackOff: table({ maxContainerRestartPeriod: duration(300 * second) }),
  imagePullCredentialsVerificationPolicy: neverEmpty(
    oneOf('NeverVerifyPreloadedImages', 'NeverVerify', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
  ),
  preloadedImagesVerificationAllowlist: texts([]),
  singleProcessOOMKill: optional(flag(false)),
  oomScoreAdj: whole(-999, -1000, 1000),
  /** We run on both versions; upstream refuses version 1 since 1.35. */
  failCgroupV1: flag(false),
  userNamespaces: table({ idsPerPod: whole(65_536, 65_536) }),
};

export type KubeletConfiguration = Parsed<typeof kubeletFields>;

export const defaultEvictionHard: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

const apiVersion = 'kubelet.config.k8s.io/v1beta1';

/**
 * Reads a `KubeletConfiguration`.
 *
 * @param source names it in errors, usually its file
 * @throws {InvalidInput} that names every field that is unknown, of the wrong type or out of range, or what does not go together
 */
export function parseKubeletConfiguration(given: Fields, source: string): KubeletConfiguration {
  const { read, refuse } = readFields(given, source);
  const problems = configurationProblems(read);
  return problems.length === 0 ? read : refuse(inOne(problems));
}

/** Reads what is one part of a configuration: what must go together may stand in others. @throws {InvalidInput} */
export function checkConfigurationPart(given: Fields, source: string): void {
  readFields(given, source);
}

type Fields = Readonly<Record<string, unknown>>;

function readFields(given: Fields, source: string): { readonly read: KubeletConfiguration; readonly refuse: (message: string) => never } {
  const { kind, apiVersion: version, ...rest } = given;
  if (kind !== undefined && kind !== 'KubeletConfiguration') throw new InvalidInput({ message: `${source}: kind is not KubeletConfiguration` });
  if (version !== undefined && version !== apiVersion) throw new InvalidInput({ message: `${source}: apiVersion is not ${apiVersion}` });
  const refuse = (message: string): never => {
    throw new InvalidInput({ message: `${source}: ${message}`, hint });
  };
  try {
    return { read: table(kubeletFields).parse(withDerived(rest), ''), refuse };
  } catch (error) {
    return error instanceof InvalidFields ? refuse(error.message) : raise(error);
  }
}

const hint = 'see https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/';

function raise(error: unknown): never {
  throw error;
}

/** Who sets how often the status is looked at, and not how often it is reported, wants it reported that often: upstream's rule. */
function withDerived(given: Fields): Fields {
  const { nodeStatusUpdateFrequency: looked, nodeStatusReportFrequency: reported } = given;
  return looked === undefined || reported !== undefined ? given : { ...given, nodeStatusReportFrequency: looked };
}
