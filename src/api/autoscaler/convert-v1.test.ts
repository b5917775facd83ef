import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type * as v1 from '#api/types/autoscaling-v1.ts';
import type { HorizontalPodAutoscaler, MetricSpec } from '#api/types/autoscaling-v2.ts';
import { autoscalerFromV1, autoscalerToV1 } from './convert-v1.ts';

const metadata = { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '', creationTimestamp: '2026-12-02T06:00:00Z' };
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const cpu: MetricSpec = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } };
const others: readonly MetricSpec[] = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
  { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '1k' } } },
  {
    type: 'Object',
    object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target: { type: 'Value', value: '5' } },
  },
  {
    type: 'External',
    external: { metric: { name: 'queue', selector: { matchLabels: { q: 'a' } } }, target: { type: 'AverageValue', averageValue: '30' } },
  },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'main', target: { type: 'Utilization', averageUtilization: 10 } },
  },
];
const stored: HorizontalPodAutoscaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { ...metadata, annotations: { mine: 'x' } },
  spec: {
    scaleTargetRef,
    minReplicas: 2,
    maxReplicas: 5,
    metrics: [...others, cpu],
    behavior: {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }] },
      scaleDown: { selectPolicy: 'Min', policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
    },
  },
  status: {
    currentReplicas: 2,
    desiredReplicas: 3,
    conditions: [{ type: 'AbleToScale', status: 'True' }],
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 35, averageValue: '350m' } } }],
  },
};

test('what the first version has no field for stands in annotations, as upstream writes them', () => {
  const { apiVersion, spec, status, metadata: shown } = autoscalerToV1(stored);
  assert.equal(apiVersion, 'autoscaling/v1');
  assert.deepEqual(spec, { scaleTargetRef, minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 60 });
  assert.deepEqual(status, { currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 35 });
  const { annotations = {} } = shown;
  assert.deepEqual(Object.keys(annotations).sort(), [
    'autoscaling.alpha.kubernetes.io/behavior',
    'autoscaling.alpha.kubernetes.io/conditions',
    'autoscaling.alpha.kubernetes.io/current-metrics',
    'autoscaling.alpha.kubernetes.io/metrics',
    'mine',
  ]);
  assert.equal(
    annotations['autoscaling.alpha.kubernetes.io/behavior'],
    '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}]},' +
      '"ScaleDown":{"SelectPolicy":"Min","Policies":[{"Type":"Percent","Value":10,"PeriodSeconds":60}]}}',
  );
  assert.deepEqual(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? '')[1], {
    type: 'Pods',
    pods: { metricName: 'hits', targetAverageValue: '1k' },
  });
});

test('through the first version and back nothing is lost', () => {
  assert.deepEqual(autoscalerFromV1(autoscalerToV1(stored)), stored);
});

test('through the first version and back nothing is lost, whichever metrics there are', () => {
  fc.assert(
    fc.property(fc.subarray([...others]), fc.boolean(), (some, hasCpu) => {
      const metrics = [...some, ...(hasCpu || some.length === 0 ? [cpu] : [])];
      const object = { ...stored, spec: { ...stored.spec, metrics } };
      assert.deepEqual(autoscalerFromV1(autoscalerToV1(object)), object);
    }),
  );
});

test('an autoscaler of the first version that does not say has the default of the second', () => {
  const plain: v1.HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef, maxReplicas: 5 },
  };
  const { spec, metadata: shown } = autoscalerToV1(autoscalerFromV1(plain));
  assert.deepEqual(spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 80 });
  assert.equal(shown.annotations, undefined);
});

test('annotations that cannot be read say nothing', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '[', 'autoscaling.alpha.kubernetes.io/behavior': '7' };
  const odd: v1.HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { ...metadata, annotations },
    spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 10 },
  };
  const { spec, metadata: shown } = autoscalerFromV1(odd);
  assert.deepEqual([spec.metrics?.length, spec.behavior, shown.annotations], [1, undefined, undefined]);
});
