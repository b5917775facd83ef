import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { goDuration } from '../runtime/go-duration.ts';

/** What `/configz` shows: the configuration in force, in the form in which it is written. */
export function shownConfiguration(configuration: KubeletConfiguration): unknown {
  return shown(configuration, '');
}

function shown(value: unknown, path: string): unknown {
  if (typeof value === 'number' && durations.has(path)) return goDuration(value);
  if (Array.isArray(value)) return value.map((one) => shown(one, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one, path === '' ? name : `${path}.${name}`)]));
}

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
  'runtimeRequestTimeout',
  'cpuCFSQuotaPeriod',
  'evictionPressureTransitionPeriod',
  'containerLogMonitorInterval',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'crashLoopBackOff.maxContainerRestartPeriod',
]);
