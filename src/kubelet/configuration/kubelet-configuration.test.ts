import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unmetWishes } from './field-effects.ts';
import { parseKubeletConfiguration } from './kubelet-configuration.ts';

const header = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const refused = (fields: Record<string, unknown>) => () => parseKubeletConfiguration({ ...header, ...fields }, 'kubelet.yaml');

test('what is not set has its default, what is set is read, durations to milliseconds', () => {
  const { syncFrequency, maxPods, authentication, evictionHard } = parseKubeletConfiguration(
    { ...header, syncFrequency: '1m30.5s', authentication: { anonymous: { enabled: true } } },
    'kubelet.yaml',
  );
  assert.deepEqual([syncFrequency, maxPods, evictionHard], [90_500, 110, undefined]);
  assert.deepEqual([authentication.anonymous.enabled, authentication.webhook], [true, { enabled: true, cacheTTL: 120_000 }]);
});

test('a status that is looked at every so often is reported as often, if nothing else is said', () => {
  const reported = (fields: object) => parseKubeletConfiguration({ ...header, ...fields }, 'x').nodeStatusReportFrequency;
  assert.deepEqual(
    [reported({}), reported({ nodeStatusUpdateFrequency: '4s' }), reported({ nodeStatusUpdateFrequency: '4s', nodeStatusReportFrequency: '1m' })],
    [300_000, 4_000, 60_000],
  );
});

test('everything that is wrong is said at once', () => {
  assert.throws(refused({ maxPod: 1, syncFrequency: 60, registerWithTaints: [{ key: 'a', effect: 'x' }], authentication: { webhok: {} } }), {
    message:
      'kubelet.yaml: [maxPod is not a known field, syncFrequency is not a duration such as "10s" or "1m30s", ' +
      'authentication.webhok is not a known field, registerWithTaints[0].effect is not one of "NoSchedule", "PreferNoSchedule", "NoExecute"]',
  });
});

test('what does not go together is refused in upstream words', () => {
  const message = (fields: object) => {
    try {
      parseKubeletConfiguration({ ...header, ...fields }, 'f');
      return 'taken';
    } catch (error) {
      return error instanceof Error ? error.message.replace('f: invalid configuration: ', '') : '';
    }
  };
  assert.equal(
    message({ imageGCHighThresholdPercent: 80 }),
    'imageGCLowThresholdPercent (--image-gc-low-threshold) 80 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 80',
  );
  assert.equal(message({ imageMaximumGCAge: '1m' }), 'imageMaximumGCAge 1m0s must be greater than imageMinimumGCAge 2m0s');
  assert.equal(message({ imageMaximumGCAge: '3m' }), 'taken');
  assert.equal(
    message({ serializeImagePulls: true, maxParallelImagePulls: 2 }),
    'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
  );
  assert.equal(message({ maxParallelImagePulls: 2 }), 'taken');
  assert.equal(message({ podLogsDir: 'logs' }), 'pod logs path "logs" must be absolute path');
  assert.equal(message({ podLogsDir: '/var//log' }), 'pod logs path "/var//log" must be normalized');
  assert.equal(message({ enableSystemLogQuery: true, enableSystemLogHandler: false }), 'enableSystemLogHandler is required for enableSystemLogQuery');
  assert.equal(
    message({ hairpinMode: 'x' }),
    'option "x" specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"',
  );
  assert.equal(
    message({ crashLoopBackOff: { maxContainerRestartPeriod: '301s' } }),
    'CrashLoopBackOff.MaxContainerRestartPeriod (got: 301 seconds) must be set between 1s and 300s',
  );
  assert.equal(message({ registerWithTaints: [{ key: 'a', effect: 'NoExecute', timeAdded: '2030-01-01T00:00:00Z' }] }), 'taint.TimeAdded is not nil');
  assert.equal(
    message({ systemCgroups: '/s', enforceNodeAllocatable: ['pods', 'pods'] }),
    'f: [invalid configuration: systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified, ' +
      'invalid configuration: duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable)]'.replace('f: ', ''),
  );
});

test('feature gates: unknown ones and locked ones are refused, what has no switch here is told', () => {
  assert.throws(refused({ featureGates: { NoSuch: true, SidecarContainers: false } }), {
    message: 'kubelet.yaml: [unrecognized feature gate: NoSuch, cannot set feature gate SidecarContainers to false, feature is locked to true]',
  });
  const wishes = (fields: object) => unmetWishes(parseKubeletConfiguration({ ...header, ...fields }, 'x')).map(({ field }) => field);
  assert.deepEqual(wishes({}), []);
  assert.deepEqual(
    wishes({ featureGates: { MemoryQoS: true, MemoryManager: true, NodeDeclaredFeatures: true, KubeletPSI: false }, kubeAPIQPS: 5, maxOpenFiles: 0 }),
    ['kubeAPIQPS', 'featureGates.NodeDeclaredFeatures', 'featureGates.KubeletPSI'],
  );
});

test('a file in which a tool has written every field as zero says the defaults', () => {
  const written = {
    ...{
      syncFrequency: '0s',
      fileCheckFrequency: '0s',
      nodeStatusUpdateFrequency: '0s',
      nodeStatusReportFrequency: '0s',
      maxPods: 0,
      cgroupDriver: '',
    },
    ...{ cpuManagerReconcilePeriod: '0s', evictionPressureTransitionPeriod: '0s', runtimeRequestTimeout: '0s', streamingConnectionIdleTimeout: '0s' },
    ...{
      imageMinimumGCAge: '0s',
      imageMaximumGCAge: '0s',
      shutdownGracePeriod: '0s',
      shutdownGracePeriodCriticalPods: '0s',
      volumeStatsAggPeriod: '0s',
    },
    ...{ memorySwap: {}, crashLoopBackOff: {}, containerRuntimeEndpoint: '', nodeLeaseDurationSeconds: 0, memoryManagerPolicy: '', clusterDNS: null },
  };
  assert.deepEqual(parseKubeletConfiguration({ ...header, ...written }, 'x'), parseKubeletConfiguration({}, 'x'));
  const logging = { flushFrequency: 0, options: { json: { infoBufferSize: '0' } }, verbosity: 0 };
  parseKubeletConfiguration({ ...header, logging }, 'x');
});

test('an unknown field, a wrong type and a value out of range are refused by name', () => {
  assert.throws(refused({ maxPod: 1 }), { code: 'INVALID_INPUT', message: 'kubelet.yaml: maxPod is not a known field' });
  assert.throws(refused({ authentication: { webhok: {} } }), { message: 'kubelet.yaml: authentication.webhok is not a known field' });
  assert.throws(refused({ syncFrequency: 60 }), { message: /^kubelet.yaml: syncFrequency is not a duration/ });
  assert.throws(refused({ syncFrequency: '1 m' }), { message: /syncFrequency/ });
  assert.throws(refused({ containerLogMaxFiles: 1 }), { message: /containerLogMaxFiles is not a whole number of 2/ });
  assert.throws(refused({ registerWithTaints: [{ key: 'a', effect: 'Sometimes' }] }), { message: /registerWithTaints\[0\]\.effect is not one of/ });
  assert.throws(refused({ kind: 'Pod' }), { message: 'kubelet.yaml: kind is not KubeletConfiguration' });
});
