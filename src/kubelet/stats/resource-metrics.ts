import type { Compute, NodeCompute, PodCompute } from './figures.ts';
import { counter, type Family, gauge, prometheusText, type Sample } from './prometheus-text.ts';

export interface ResourceFigures {
  readonly node: NodeCompute;
  readonly pods: readonly PodCompute[];
}

/** `/metrics/resource`: what a metrics server reads. @param figures undefined when they could not be read */
export function resourceMetrics(figures: ResourceFigures | undefined): string {
  const failed = figures === undefined ? 1 : 0;
  const errors: readonly Family[] = [
    gauge('resource_scrape_error', '[STABLE] 1 if the figures of containers could not be read, 0 otherwise', [{ labels: {}, value: failed }]),
    gauge('scrape_error', '[ALPHA] (Deprecated since 1.29.0) the same as resource_scrape_error', [{ labels: {}, value: failed }]),
  ];
  return prometheusText([...(figures === undefined ? [] : familiesOf(figures)), ...errors]);
}

function familiesOf({ node, pods }: ResourceFigures): readonly Family[] {
  const ofNode = [{ labels: {}, figures: node }];
  const ofPods = pods.map((pod) => ({ labels: { namespace: pod.namespace, pod: pod.name }, figures: pod }));
  const ofContainers = pods.flatMap(({ namespace, name: pod, containers }) =>
    containers.map((container) => ({ labels: { container: container.name, namespace, pod }, figures: container })),
  );
  return [
    counter('container_cpu_usage_seconds_total', '[STABLE] CPU time that the container used, in core-seconds', ofContainers.map(cpu)),
    gauge('container_memory_working_set_bytes', '[STABLE] Working set of the container', ofContainers.map(workingSet)),
    gauge('container_start_time_seconds', '[STABLE] When the container was made, since the epoch', ofContainers.map(start)),
    gauge('container_swap_limit_bytes', '[ALPHA] Swap that the container may use', ofContainers.map(swapLimit)),
    gauge('container_swap_usage_bytes', '[ALPHA] Swap that the container uses', ofContainers.map(swap)),
    counter('node_cpu_usage_seconds_total', '[STABLE] CPU time that the node used, in core-seconds', ofNode.map(cpu)),
    gauge('node_memory_working_set_bytes', '[STABLE] Working set of the node', ofNode.map(workingSet)),
    gauge('node_swap_usage_bytes', '[ALPHA] Swap that the node uses', ofNode.map(swap)),
    counter('pod_cpu_usage_seconds_total', '[STABLE] CPU time that the pod used, in core-seconds', ofPods.map(cpu)),
    gauge('pod_memory_working_set_bytes', '[STABLE] Working set of the pod', ofPods.map(workingSet)),
    gauge('pod_swap_usage_bytes', '[ALPHA] Swap that the pod uses', ofPods.map(swap)),
  ];
}

interface Labelled {
  readonly labels: Sample['labels'];
  readonly figures: Compute;
}

const cpu = ({ labels, figures: { cpu } }: Labelled): Sample => ({
  labels,
  value: cpu.totalNanos === undefined ? undefined : cpu.totalNanos / 1e9,
  atMs: cpu.atMs,
});
const workingSet = ({ labels, figures: { memory } }: Labelled): Sample => ({ labels, value: memory.workingSetBytes, atMs: memory.atMs });
const swap = ({ labels, figures: { swap } }: Labelled): Sample => ({ labels, value: swap.usedBytes, atMs: swap.atMs });
const swapLimit = ({ labels, figures: { swap } }: Labelled): Sample => ({ labels, value: swap.limitBytes, atMs: swap.atMs });
const start = ({ labels, figures: { startedAtMs } }: Labelled): Sample => ({ labels, value: startedAtMs / 1000 });
