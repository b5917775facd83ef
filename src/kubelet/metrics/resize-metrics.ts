import type { Registry } from 'prom-client';
import { compareQuantities } from '#api/quantity.ts';
import type { PodSizes } from '../resources/resize/sizes.ts';
import { counter, gauge, number } from './families.ts';

export interface ResizeFigures {
  readonly deferred: number;
  readonly infeasible: number;
  readonly inProgress: number;
}

/** Told of each resize that is asked for, once. */
export type ResizeAsked = (before: PodSizes, after: PodSizes) => void;

/** Resizes of running pods, under upstream's names. */
export function createResizeMetrics(registry: Registry, figures: () => ResizeFigures): ResizeAsked {
  const names = ['resource', 'requirement', 'operation'] as const;
  const asked = counter(registry, 'kubelet_container_requested_resizes_total', 'Changes of sizes that were asked for, by container', names);
  gauge(registry, 'kubelet_pod_pending_resizes', 'Pods that wait for another size', ['reason'], () => {
    const { deferred, infeasible } = figures();
    return [
      [{ reason: 'deferred' }, deferred],
      [{ reason: 'infeasible' }, infeasible],
    ];
  });
  number(registry, 'kubelet_pod_in_progress_resizes', 'Pods that are being brought to another size', () => figures().inProgress);
  return (before, after) => {
    for (const [name, size] of Object.entries(after.containers)) {
      for (const requirement of ['requests', 'limits'] as const) {
        for (const resource of ['cpu', 'memory'] as const) {
          const operation = operationOf(before.containers[name]?.[requirement][resource], size[requirement][resource]);
          if (operation !== undefined) asked.inc({ resource, requirement, operation });
        }
      }
    }
  };
}

function operationOf(before: string | undefined, after: string | undefined): string | undefined {
  if (before === undefined) return after === undefined ? undefined : 'add';
  if (after === undefined) return 'remove';
  const difference = compareQuantities(after, before);
  return difference === 0 ? undefined : difference > 0 ? 'increase' : 'decrease';
}
