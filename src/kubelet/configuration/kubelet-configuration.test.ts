import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('an unknown field, a wrong type and a value out of range are refused by name', () => {
  assert.throws(refused({ maxPod: 1 }), { code: 'INVALID_INPUT', message: 'kubelet.yaml: maxPod is not a known field' });
  assert.throws(refused({ authentication: { webhok: {} } }), { message: 'kubelet.yaml: authentication.webhok is not a known field' });
  assert.throws(refused({ syncFrequency: 60 }), { message: /^kubelet.yaml: syncFrequency is not a duration/ });
  assert.throws(refused({ syncFrequency: '1 m' }), { message: /syncFrequency/ });
  assert.throws(refused({ containerLogMaxFiles: 1 }), { message: /containerLogMaxFiles is not a whole number of 2/ });
  assert.throws(refused({ registerWithTaints: [{ key: 'a', effect: 'Sometimes' }] }), { message: /registerWithTaints\[0\]\.effect is not one of/ });
  assert.throws(refused({ kind: 'Pod' }), { message: 'kubelet.yaml: kind is not KubeletConfiguration' });
});
