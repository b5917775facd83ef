import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { shownConfiguration } from './configz.ts';

function shown(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const configuration = parseKubeletConfiguration(given, 'test');
  const config = { listenAddress: '10.0.0.1', kubeletPort: 10_250, clusterDomain: 'cluster.local', clusterDns: ['10.96.0.10'], resolvConf: '' };
  return JSON.parse(JSON.stringify(shownConfiguration({ configuration, ...config, roots: { podLogs: '/var/log/pods' } })));
}

test('what is shown can be read again, so no duration is forgotten', () => {
  const given = { syncFrequency: '90s', crashLoopBackOff: { maxContainerRestartPeriod: '10s' }, evictionHard: { 'memory.available': '1Gi' } };
  const once = shown(given);
  assert.deepEqual(shown(once), once);
  const read = parseKubeletConfiguration(once, 'shown');
  const { address, port, clusterDomain, clusterDNS, podLogsDir, serializeImagePulls, ...rest } = read;
  const before = { ...parseKubeletConfiguration(given, 'test'), address, port, clusterDomain, clusterDNS, podLogsDir, serializeImagePulls };
  assert.deepEqual({ ...rest, address, port, clusterDomain, clusterDNS, podLogsDir, serializeImagePulls }, before);
  assert.deepEqual([once['syncFrequency'], once['crashLoopBackOff']], ['1m30s', { maxContainerRestartPeriod: '10s' }]);
});

test('the configuration in force is shown with its defaults, and nothing that is empty', () => {
  const all = shown({});
  assert.deepEqual([all['kind'], all['apiVersion']], ['KubeletConfiguration', 'kubelet.config.k8s.io/v1beta1']);
  assert.deepEqual([all['address'], all['port'], all['podLogsDir'], all['serializeImagePulls']], ['10.0.0.1', 10_250, '/var/log/pods', true]);
  assert.deepEqual(all['authentication'], { x509: {}, webhook: { enabled: true, cacheTTL: '2m0s' }, anonymous: { enabled: false } });
  assert.deepEqual(all['evictionHard'], {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  });
  for (const name of ['staticPodPath', 'systemReserved', 'registerWithTaints', 'readOnlyPort', 'rotateCertificates'])
    assert.equal(name in all, false, `${name} is empty`);
  assert.deepEqual([all['containerRuntimeEndpoint'], all['enableSystemLogQuery'], all['healthzPort']], ['', false, 0]);
});
