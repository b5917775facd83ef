import type * as v1 from '#api/types/autoscaling-v1.ts';
import type { MetricIdentifier, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '#api/types/autoscaling-v2.ts';
import type { LabelSelector } from '#api/types/meta-v1.ts';

/** Both versions say the same of a metric; the first one has no objects for a target and a metric's name. */
export function metricToV1({ type, object, pods, resource, containerResource, external }: MetricSpec): v1.MetricSpec {
  return defined({
    type,
    object: object && {
      target: object.describedObject,
      ...namedV1(object.metric),
      targetValue: object.target.value ?? '0',
      averageValue: object.target.averageValue,
    },
    pods: pods && { ...namedV1(pods.metric), targetAverageValue: pods.target.averageValue ?? '0' },
    resource: resource && { name: resource.name, ...averagesV1(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      ...averagesV1(containerResource.target),
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  });
}

export function metricFromV1({ type = '', object, pods, resource, containerResource, external }: v1.MetricSpec): MetricSpec {
  return defined({
    type,
    object: object && {
      describedObject: object.target ?? { kind: '', name: '' },
      metric: identifier(object.metricName, object.selector),
      target: defined({
        type: object.averageValue === undefined ? 'Value' : 'AverageValue',
        value: object.targetValue,
        averageValue: object.averageValue,
      }),
    },
    pods: pods && {
      metric: identifier(pods.metricName, pods.selector),
      target: defined({ type: 'AverageValue', averageValue: pods.targetAverageValue }),
    },
    resource: resource && { name: resource.name ?? '', target: averages(resource) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      container: containerResource.container ?? '',
      target: averages(containerResource),
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      target: defined({
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });
}

export function metricStatusToV1({ type, object, pods, resource, containerResource, external }: MetricStatus): v1.MetricStatus {
  return defined({
    type,
    object: object && {
      target: object.describedObject,
      ...namedV1(object.metric),
      currentValue: object.current.value ?? '0',
      averageValue: object.current.averageValue,
    },
    pods: pods && { ...namedV1(pods.metric), currentAverageValue: pods.current.averageValue ?? '0' },
    resource: resource && { name: resource.name, ...currentV1(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      ...currentV1(containerResource.current),
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value ?? '0',
      currentAverageValue: external.current.averageValue,
    },
  });
}

export function metricStatusFromV1({ type = '', object, pods, resource, containerResource, external }: v1.MetricStatus): MetricStatus {
  return defined({
    type,
    object: object && {
      describedObject: object.target ?? { kind: '', name: '' },
      metric: identifier(object.metricName, object.selector),
      current: defined({ value: object.currentValue, averageValue: object.averageValue }),
    },
    pods: pods && { metric: identifier(pods.metricName, pods.selector), current: defined({ averageValue: pods.currentAverageValue }) },
    resource: resource && { name: resource.name ?? '', current: current(resource) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      container: containerResource.container ?? '',
      current: current(containerResource),
    },
    external: external && {
      metric: identifier(external.metricName, external.metricSelector),
      current: defined({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });
}

function namedV1({ name, selector }: MetricIdentifier) {
  return { metricName: name, selector };
}

function identifier(name = '', selector: LabelSelector | undefined): MetricIdentifier {
  return defined({ name, selector });
}

function averagesV1({ averageUtilization, averageValue }: MetricTarget) {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}

function averages({ targetAverageUtilization, targetAverageValue }: v1.ResourceMetricSource): MetricTarget {
  const type = targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization';
  return defined({ type, averageUtilization: targetAverageUtilization, averageValue: targetAverageValue });
}

function currentV1({ averageUtilization, averageValue = '0' }: MetricValueStatus) {
  return { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue };
}

function current({ currentAverageUtilization, currentAverageValue }: v1.ResourceMetricStatus): MetricValueStatus {
  return defined({ averageUtilization: currentAverageUtilization, averageValue: currentAverageValue });
}

/** Without the keys that have no value: stored objects have none. */
function defined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T; // every key of a T may be absent
}
