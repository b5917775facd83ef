import { changePart, fill } from '#api/copy-on-write.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from '#api/types/autoscaling-v2.ts';

/** Keeps pods at this part of the CPU that they ask for. */
export const defaultMetric: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

/** At most double, or four more, in a quarter of a minute, without delay. */
const upRules: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
/** Down to the least at once; how long it waits is the controller's affair. */
const downRules: HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

export function defaultAutoscaler(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const given: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {};
  const metrics = (given.metrics ?? []).length === 0 ? [defaultMetric] : given.metrics;
  const filled = { ...fill<Partial<HorizontalPodAutoscalerSpec>>(given, { minReplicas: 1 }), metrics };
  return { ...object, spec: changePart(filled, 'behavior', defaultBehavior) as HorizontalPodAutoscalerSpec }; // what is missing is refused
}

function defaultBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return { scaleUp: fill(scaleUp ?? {}, upRules), scaleDown: fill(scaleDown ?? {}, downRules) };
}
