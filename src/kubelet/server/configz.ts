import { defaultEvictionHard, type KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { KubeletConfig } from '../kubelet-config.ts';
import { goDuration } from '../runtime/go-duration.ts';

type InForce = Pick<KubeletConfig, 'configuration' | 'listenAddress' | 'kubeletPort' | 'clusterDomain' | 'clusterDns' | 'resolvConf'> & {
  readonly roots: Pick<KubeletConfig['roots'], 'podLogs'>;
};

/** What `/configz` shows: the configuration in force, in the form in which it is written. What is empty is left out, as upstream. */
export function shownConfiguration(config: InForce): Readonly<Record<string, unknown>> {
  const { configuration, listenAddress: address, kubeletPort: port, clusterDomain, clusterDns: clusterDNS, roots } = config;
  const { serializeImagePulls, maxParallelImagePulls, evictionHard = defaultEvictionHard } = configuration;
  const inForce: KubeletConfiguration = {
    ...configuration,
    address,
    port,
    clusterDomain,
    clusterDNS,
    podLogsDir: roots.podLogs,
    serializeImagePulls: serializeImagePulls ?? (maxParallelImagePulls ?? 1) === 1,
  };
  const fields = Object.entries(inForce).filter(([name, value]) => !isEmpty(name, value));
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...Object.fromEntries(fields.map(([name, value]) => [name, shown(value, name)])),
    evictionHard,
  };
}

function shown(value: unknown, path: string): unknown {
  if (typeof value === 'number' && durations.has(path)) return goDuration(value);
  if (Array.isArray(value)) return value.map((one) => shown(one, path));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== '');
  return Object.fromEntries(fields.map(([name, one]) => [name, shown(one, `${path}.${name}`)]));
}

function isEmpty(name: string, value: unknown): boolean {
  if (value === undefined || value === '') return name !== 'containerRuntimeEndpoint';
  if (value === 0 || value === false) return withoutZero.has(name);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Fields whose zero is not told from their absence. */
const withoutZero: ReadonlySet<string> = new Set([
  'readOnlyPort',
  'podsPerCore',
  'evictionMaxPodGracePeriod',
  'rotateCertificates',
  'serverTLSBootstrap',
  'protectKernelDefaults',
]);

const durations: ReadonlySet<string> = new Set([
  'syncFrequency',
  'fileCheckFrequency',
  'httpCheckFrequency',
  'authentication.webhook.cacheTTL',
  'authorization.webhook.cacheAuthorizedTTL',
  'authorization.webhook.cacheUnauthorizedTTL',
  'streamingConnectionIdleTimeout',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
  'volumeStatsAggPeriod',
  'cpuManagerReconcilePeriod',
  'draManagerReconcilePeriod',
  'runtimeRequestTimeout',
  'cpuCFSQuotaPeriod',
  'evictionPressureTransitionPeriod',
  'containerLogMonitorInterval',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'crashLoopBackOff.maxContainerRestartPeriod',
]);
