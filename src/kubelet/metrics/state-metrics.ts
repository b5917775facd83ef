import type { Registry } from 'prom-client';
import type { WorkerFigure } from '../pod-workers/pod-workers.ts';
import { isStatic } from '../resources/critical.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { gauge, number, type Reading } from './families.ts';

export interface NodeState {
  readonly nodeName: string;
  /** `v1.36.0` */
  readonly version: string;
  readonly cgroupVersion: 'v1' | 'v2';
  readonly workers: () => readonly WorkerFigure[];
  /** Pods as the runtime has them. */
  readonly runtimePods: () => readonly PodRuntimeState[];
  readonly mirrors: () => number;
}

/** What there is on the node now; read only when somebody looks. */
export function registerStateMetrics(registry: Registry, state: NodeState): void {
  const { nodeName: node, version: git_version, cgroupVersion, workers, runtimePods, mirrors } = state;
  gauge(registry, 'kubelet_node_name', 'The node’s name; the value is always 1', ['node'], () => [[{ node }, 1]]);
  const [major = '', minor = ''] = git_version.replace(/^v/, '').split('.');
  const build = { git_version, major, minor, platform: 'linux' };
  gauge(registry, 'kubernetes_build_info', 'The Kubernetes that this kubelet is; the value is always 1', buildLabels, () => [[build, 1]]);
  number(registry, 'kubelet_cgroup_version', 'Version of the cgroups of this host', () => (cgroupVersion === 'v1' ? 1 : 2));
  number(
    registry,
    'kubelet_running_pods',
    'Pods whose sandbox runs',
    () => runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready)).length,
  );
  gauge(registry, 'kubelet_running_containers', 'Containers in the runtime by their state', ['container_state'], () =>
    counted(runtimePods().flatMap(({ containers }) => containers.map(({ phase }) => ({ container_state: phase })))),
  );
  gauge(registry, 'kubelet_desired_pods', 'Pods that the node is to have', ['static'], () =>
    counted(
      wanted(workers()).map(({ pod }) => ({ static: staticLabel(pod) })),
      bothKinds,
    ),
  );
  gauge(registry, 'kubelet_active_pods', 'Pods that run, start or stop', ['static'], () =>
    counted(
      workers()
        .filter(({ phase }) => phase !== 'stopped')
        .map(({ pod }) => ({ static: staticLabel(pod) })),
      bothKinds,
    ),
  );
  number(registry, 'kubelet_mirror_pods', 'Mirrors of static pods that the API server has', mirrors);
  gauge(registry, 'kubelet_working_pods', 'Pods that have a worker, by what it does and who wants them', ['lifecycle', 'config', 'static'], () =>
    counted(workers().map(workingLabels)),
  );
  number(registry, 'kubelet_managed_ephemeral_containers', 'Ephemeral containers of the node’s pods', () =>
    wanted(workers()).reduce((sum, { pod }) => sum + (pod.spec?.ephemeralContainers ?? []).length, 0),
  );
}

const buildLabels = ['git_version', 'major', 'minor', 'platform'] as const;

const bothKinds = [{ static: '' }, { static: 'true' }];

function wanted(workers: readonly WorkerFigure[]): readonly WorkerFigure[] {
  return workers.filter(({ isGone }) => !isGone);
}

function workingLabels({ pod, phase, isGone }: WorkerFigure) {
  const lifecycle = { syncing: 'sync', stopping: 'terminating', stopped: 'terminated' }[phase];
  if (!isGone) return { lifecycle, config: 'desired', static: staticLabel(pod) };
  // Of a pod that was only found in the runtime nobody knows who wanted it.
  return pod.spec === undefined
    ? { lifecycle, config: 'runtime_only', static: 'unknown' }
    : { lifecycle, config: 'orphan', static: staticLabel(pod) };
}

function staticLabel(pod: WorkerFigure['pod']): string {
  return isStatic(pod) ? 'true' : '';
}

/** How many there are of each. @param always told even when there is none */
function counted<L extends string>(
  all: readonly Readonly<Record<L, string>>[],
  always: readonly Readonly<Record<L, string>>[] = [],
): Iterable<Reading<L>> {
  const counts = new Map<string, [Readonly<Record<L, string>>, number]>(always.map((labels) => [JSON.stringify(labels), [labels, 0]]));
  for (const labels of all) {
    const key = JSON.stringify(labels);
    counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + 1]);
  }
  return counts.values();
}
