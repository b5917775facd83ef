import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '#api/types/autoscaling-v2.ts';

const shownMetrics = 2;

/** What the metrics are and should be: `cpu: 35%/80%`, the first two of them. */
export function targetsText({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, index) => targetText(metric, status?.currentMetrics?.[index]));
  const more = metrics.length > shownMetrics ? ` + ${metrics.length - shownMetrics} more...` : '';
  return `${texts.slice(0, shownMetrics).join(', ')}${more}`;
}

function targetText(metric: MetricSpec, status: MetricStatus | undefined): string {
  const { object, external, pods, resource, containerResource } = metric;
  switch (metric.type) {
    case 'External':
      return valueText(external?.target, status?.external?.current);
    case 'Object':
      return valueText(object?.target, status?.object?.current);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? '<unknown>'}/${pods?.target.averageValue ?? '0'}`;
    case 'Resource':
      return `${resource?.name ?? ''}: ${averageText(resource?.target, status?.resource?.current)}`;
    case 'ContainerResource':
      return `${containerResource?.name ?? ''}: ${averageText(containerResource?.target, status?.containerResource?.current)}`;
    default:
      return '<unknown type>';
  }
}

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue} (avg)`;
  return `${current?.value ?? '<unknown>'}/${target?.value ?? '0'}`;
}

function averageText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue}`;
  const percent = (value: number | undefined, otherwise: string) => (value === undefined ? otherwise : `${value}%`);
  return `${percent(current?.averageUtilization, '<unknown>')}/${percent(target?.averageUtilization, '<auto>')}`;
}
