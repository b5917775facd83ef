import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { anAutoscaler } from '#api/testing/workloads.ts';
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } });

test('an autoscaler keeps the CPU of one pod or more at four fifths, when it does not say', () => {
  const { metadata, spec, status } = created(horizontalPodAutoscaler, anAutoscaler());
  assert.equal(metadata.generation, undefined);
  assert.deepEqual(status, { desiredReplicas: 0 });
  assert.deepEqual(spec, {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [cpu({ type: 'Utilization', averageUtilization: 80 })],
  });
});

test('annotations of the older version say nothing in the newer one', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/behavior': '{}', mine: 'x' };
  const { metadata } = created(horizontalPodAutoscaler, { ...anAutoscaler(), metadata: { name: 'web', annotations } });
  assert.deepEqual(metadata.annotations, { mine: 'x' });
});

test('of a behaviour the rest is written out', () => {
  const { spec } = created(horizontalPodAutoscaler, anAutoscaler({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } }));
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
  assert.deepEqual(spec.behavior, {
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent] },
    scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [percent] },
  });
});

for (const [what, spec, expected] of [
  [
    'of nothing',
    { scaleTargetRef: {}, maxReplicas: undefined },
    [
      'spec.maxReplicas: Invalid value: 0: must be greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
    ],
  ],
  [
    'that may go to none',
    { minReplicas: 0 },
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  [
    'with metrics that say nothing',
    { metrics: [{ type: 'Cpu' }, { type: 'Resource' }, { type: 'Pods', pods: { metric: {}, target: { type: 'AverageValue' } } }] },
    [
      'spec.metrics[0].type: Unsupported value: "Cpu": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      'spec.metrics[1].resource: Required value: must populate information for the given metric source',
      'spec.metrics[2].pods.metric.name: Required value: must specify a metric name',
      'spec.metrics[2].pods.target.averageValue: Required value: must specify a positive target averageValue',
    ],
  ],
  [
    'with a metric that says too much',
    {
      metrics: [
        { ...cpu({ type: 'Utilization', averageUtilization: 0, averageValue: '0' }), pods: { metric: { name: 'm' }, target: { type: 'Value' } } },
      ],
    },
    [
      'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
      'spec.metrics[0].pods: Forbidden: must populate the given metric source only',
    ],
  ],
  [
    'with a target that cannot be met',
    { metrics: [cpu({ type: 'Half', averageUtilization: 0, averageValue: '0' })] },
    [
      'spec.metrics[0].resource.target.type: Invalid value: "Half": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].resource.target.averageValue: Invalid value: "0": must be positive',
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
      'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
    ],
  ],
  [
    'with a behaviour out of bounds',
    { behavior: { scaleUp: { stabilizationWindowSeconds: 3601, selectPolicy: 'Any', policies: [{ type: 'Few', value: 0, periodSeconds: 1801 }] } } },
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Few": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    ],
  ],
] as const) {
  test(`an autoscaler ${what} is refused`, () => {
    assert.deepEqual(refusal(horizontalPodAutoscaler, anAutoscaler(spec)), expected);
  });
}

test('an autoscaler has no generation, and everything of it may change', () => {
  const first = created(horizontalPodAutoscaler, anAutoscaler());
  const { object, refusal: problems } = updated(horizontalPodAutoscaler, first, created(horizontalPodAutoscaler, anAutoscaler({ maxReplicas: 9 })));
  assert.deepEqual([object.metadata.generation, object.spec.maxReplicas, problems], [undefined, 9, []]);
  assert.deepEqual(statusRefusal(horizontalPodAutoscaler, first, { desiredReplicas: -1 }), [
    'status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('the row of an autoscaler', () => {
  const external = { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } } };
  const pods = { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '1k' } } };
  const one = created(horizontalPodAutoscaler, anAutoscaler());
  assert.deepEqual(cells(horizontalPodAutoscaler, one), ['web', 'Deployment/web', 'cpu: <unknown>/80%', '1', 5, 0, '5m']);
  const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 35 } } }];
  const measured = { ...one, status: { desiredReplicas: 2, currentReplicas: 2, currentMetrics } };
  assert.deepEqual(cells(horizontalPodAutoscaler, measured).slice(2, 6), ['cpu: 35%/80%', '1', 5, 2]);
  const many = created(horizontalPodAutoscaler, anAutoscaler({ metrics: [external, pods, cpu({ type: 'AverageValue', averageValue: '500m' })] }));
  assert.equal(cells(horizontalPodAutoscaler, many)[2], '<unknown>/30 (avg), <unknown>/1k + 1 more...');
});
