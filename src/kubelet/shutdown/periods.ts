import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { goDuration } from '../runtime/go-duration.ts';

/** How long the pods of a priority, and of those up to the next one, may take to end when the node goes down. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly seconds: number;
}

export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly Pod[];
}

type ShutdownConfiguration = Pick<
  KubeletConfiguration,
  'shutdownGracePeriod' | 'shutdownGracePeriodCriticalPods' | 'shutdownGracePeriodByPodPriority'
>;

const ordinaryPriority = 0;
const criticalPriority = 2_000_000_000;

/** Lowest priority first; none: pods are not ended when the node goes down. @throws {InvalidInput} with upstream's message */
export function shutdownPeriods(configuration: ShutdownConfiguration): readonly ShutdownPeriod[] {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical, shutdownGracePeriodByPodPriority: byPriority } = configuration;
  refuseNonsense(total, critical, byPriority.length > 0);
  if (byPriority.length > 0) {
    return byPriority.map(({ priority, shutdownGracePeriodSeconds: seconds }) => ({ priority, seconds })).sort((a, b) => a.priority - b.priority);
  }
  if (total === 0) return [];
  const ordinary = Math.trunc((total - critical) / 1000);
  return [
    { priority: ordinaryPriority, seconds: ordinary },
    { priority: criticalPriority, seconds: Math.trunc(critical / 1000) },
  ];
}

/** Each pod is in the group of the highest priority that is not above its own; those below all are in the lowest group. */
export function groupPods(pods: readonly Pod[], periods: readonly ShutdownPeriod[]): readonly ShutdownGroup[] {
  const indexOf = ({ spec }: Pod) =>
    Math.max(
      0,
      periods.findLastIndex(({ priority }) => priority <= (spec?.priority ?? 0)),
    );
  return periods.map((period, index) => ({ ...period, pods: pods.filter((pod) => indexOf(pod) === index) }));
}

/** What the host's shutdown has to wait for at most. */
export function allSeconds(periods: readonly ShutdownPeriod[]): number {
  return periods.reduce((sum, { seconds }) => sum + seconds, 0);
}

function refuseNonsense(total: number, critical: number, isByPriority: boolean): void {
  const refuse = (message: string) => {
    throw new InvalidInput({ message: `invalid configuration: ${message}` });
  };
  if (critical > total) refuse(`shutdownGracePeriodCriticalPods ${goDuration(critical)} must be <= shutdownGracePeriod ${goDuration(total)}`);
  if (total > 0 && total < 1000) refuse(`shutdownGracePeriod ${goDuration(total)} must be either zero or otherwise >= 1 sec`);
  if (critical > 0 && critical < 1000) refuse(`shutdownGracePeriodCriticalPods ${goDuration(critical)} must be either zero or otherwise >= 1 sec`);
  if (isByPriority && total + critical > 0) refuse('Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time');
}
