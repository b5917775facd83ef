import { InvalidInput } from '#base/errors.ts';
import { decimal, duration, flag, listOf, mapOf, oneOf, optional, type Parsed, table, text, textMap, texts, whole } from './field.ts';

const second = 1000;
const minute = 60 * second;

const taint = table({ key: text(''), value: text(''), effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'), timeAdded: optional(text('')) });

/** Upstream's fields and defaults (kubelet.config.k8s.io/v1beta1); durations are milliseconds once they are read. */
const fields = {
  enableServer: flag(true),
  staticPodPath: text(''),
  staticPodURL: text(''),
  staticPodURLHeader: mapOf(texts([])),
  syncFrequency: duration(minute),
  fileCheckFrequency: duration(20 * second),
  httpCheckFrequency: duration(20 * second),
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
  registryPullQPS: whole(5, 0),
  registryBurst: whole(10, 0),
  eventRecordQPS: whole(50, 0),
  eventBurst: whole(100, 0),
  kubeAPIQPS: whole(50, -1),
  kubeAPIBurst: whole(100, 0),
  contentType: text('application/json'),
  enableDebuggingHandlers: flag(true),
  enableProfilingHandler: flag(true),
  enableDebugFlagsHandler: flag(true),
  enableSystemLogHandler: flag(true),
  healthzPort: whole(0, 0, 65_535),
  healthzBindAddress: text('127.0.0.1'),
  clusterDomain: text(''),
  clusterDNS: texts([]),
  resolvConf: text('/etc/resolv.conf'),
  streamingConnectionIdleTimeout: duration(240 * minute),
  nodeStatusUpdateFrequency: duration(10 * second),
  nodeStatusReportFrequency: duration(5 * minute),
  nodeLeaseDurationSeconds: whole(40, 1),
  nodeStatusMaxImages: whole(50, -1),
  imageMinimumGCAge: duration(2 * minute),
  imageMaximumGCAge: duration(0),
  imageGCHighThresholdPercent: whole(85, 0, 100),
  imageGCLowThresholdPercent: whole(80, 0, 100),
  volumeStatsAggPeriod: duration(minute),
  cgroupRoot: text(''),
  cgroupsPerQOS: flag(true),
  cgroupDriver: oneOf('cgroupfs', 'systemd'),
  cpuManagerPolicy: oneOf('none', 'static'),
  cpuManagerPolicyOptions: textMap({}),
  cpuManagerReconcilePeriod: duration(10 * second),
  memoryManagerPolicy: oneOf('None', 'Static'),
  reservedMemory: listOf(table({ numaNode: whole(0, 0), limits: textMap({}) })),
  topologyManagerPolicy: oneOf('none', 'best-effort', 'restricted', 'single-numa-node'),
  topologyManagerScope: oneOf('container', 'pod'),
  topologyManagerPolicyOptions: textMap({}),
  qosReserved: textMap({}),
  runtimeRequestTimeout: duration(2 * minute),
  hairpinMode: text('promiscuous-bridge'),
  maxPods: whole(110, 0),
  podCIDR: text(''),
  podPidsLimit: whole(-1, Number.MIN_SAFE_INTEGER),
  podsPerCore: whole(0, 0),
  cpuCFSQuota: flag(true),
  cpuCFSQuotaPeriod: duration(100),
  maxOpenFiles: whole(1_000_000, 0),
  serializeImagePulls: optional(flag(true)),
  maxParallelImagePulls: optional(whole(1, 1)),
  /** Absent: the defaults of `defaultEvictionHard`. */
  evictionHard: optional(textMap({})),
  evictionSoft: textMap({}),
  evictionSoftGracePeriod: textMap({}),
  evictionPressureTransitionPeriod: duration(5 * minute),
  evictionMaxPodGracePeriod: whole(0, 0),
  evictionMinimumReclaim: textMap({}),
  mergeDefaultEvictionSettings: flag(false),
  enableControllerAttachDetach: flag(true),
  protectKernelDefaults: flag(false),
  makeIPTablesUtilChains: flag(true),
  failSwapOn: flag(false),
  memorySwap: table({ swapBehavior: oneOf('', 'NoSwap', 'LimitedSwap') }),
  containerLogMaxSize: text('10Mi'),
  containerLogMaxFiles: whole(5, 2),
  containerLogMaxWorkers: whole(1, 1),
  containerLogMonitorInterval: duration(10 * second),
  configMapAndSecretChangeDetectionStrategy: oneOf('Watch', 'Cache', 'Get'),
  systemReserved: textMap({}),
  kubeReserved: textMap({}),
  reservedSystemCPUs: text(''),
  systemReservedCgroup: text(''),
  kubeReservedCgroup: text(''),
  enforceNodeAllocatable: texts(['pods']),
  allowedUnsafeSysctls: texts([]),
  volumePluginDir: text('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  providerID: text(''),
  shutdownGracePeriod: duration(0),
  shutdownGracePeriodCriticalPods: duration(0),
  shutdownGracePeriodByPodPriority: listOf(table({ priority: whole(0, -2_147_483_648, 2_147_483_647), shutdownGracePeriodSeconds: whole(0, 0) })),
  enableSystemLogQuery: flag(false),
  registerWithTaints: listOf(taint),
  registerNode: flag(true),
  memoryThrottlingFactor: decimal(0.9, 0, 1),
  memoryReservationPolicy: oneOf('None', 'TieredReservation'),
  seccompDefault: flag(false),
  localStorageCapacityIsolation: flag(true),
  containerRuntimeEndpoint: text(''),
  imageServiceEndpoint: text(''),
  podLogsDir: text(''),
  crashLoopBackOff: table({ maxContainerRestartPeriod: duration(300 * second) }),
  imagePullCredentialsVerificationPolicy: oneOf('NeverVerifyPreloadedImages', 'NeverVerify', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'),
  preloadedImagesVerificationAllowlist: texts([]),
  singleProcessOOMKill: optional(flag(false)),
  oomScoreAdj: whole(-999, -1000, 1000),
  /** We run on both versions; upstream refuses version 1 since 1.35. */
  failCgroupV1: flag(false),
  userNamespaces: table({ idsPerPod: whole(65_536, 65_536) }),
};

export type KubeletConfiguration = Parsed<typeof fields>;

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
 * @throws {InvalidInput} that names the first field that is unknown, of the wrong type or out of range
 */
export function parseKubeletConfiguration(given: Readonly<Record<string, unknown>>, source: string): KubeletConfiguration {
  const { kind, apiVersion: version, ...rest } = given;
  if (kind !== undefined && kind !== 'KubeletConfiguration') throw new InvalidInput({ message: `${source}: kind is not KubeletConfiguration` });
  if (version !== undefined && version !== apiVersion) throw new InvalidInput({ message: `${source}: apiVersion is not ${apiVersion}` });
  try {
    return table(fields).parse(withDerived(rest), '');
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new InvalidInput({ message: `${source}: ${error.message}`, hint: error.hint });
  }
}

/** Who sets how often the status is looked at, and not how often it is reported, wants it reported that often: upstream's rule. */
function withDerived(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { nodeStatusUpdateFrequency: looked, nodeStatusReportFrequency: reported } = given;
  return looked === undefined || reported !== undefined ? given : { ...given, nodeStatusReportFrequency: looked };
}
