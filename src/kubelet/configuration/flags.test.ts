import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsOf, parseKubeletFlags } from './flags.ts';
import { parseKubeletConfiguration } from './kubelet-configuration.ts';

test('flags are read as upstream reads them, in every spelling', () => {
  const { own, configuration } = parseKubeletFlags([
    '--kubeconfig=/k',
    '-config',
    '/c',
    '--rotate-certificates',
    '--register-node=false',
    ...['--max-pods', '20'],
    ...['--cluster-dns', '10.0.0.10', '--cluster-dns', 'fd00::a'],
    ...['--eviction-hard', 'memory.available<100Mi,nodefs.available<10%'],
    ...['--system-reserved', 'cpu=100m,memory=1Gi'],
    ...['--register-with-taints', 'a=b:NoSchedule,c:NoExecute'],
    '--anonymous-auth=false',
    '--authentication-token-webhook=true',
  ]);
  assert.deepEqual(own, { kubeconfig: '/k', config: '/c' });
  assert.deepEqual(configuration, {
    rotateCertificates: true,
    registerNode: false,
    maxPods: 20,
    clusterDNS: ['10.0.0.10', 'fd00::a'],
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    systemReserved: { cpu: '100m', memory: '1Gi' },
    registerWithTaints: [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', value: '', effect: 'NoExecute' },
    ],
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
  });
  assert.equal(parseKubeletConfiguration(configuration, 'flags').maxPods, 20);
});

test('a flag that nobody knows, one without its value and a wrong value are refused by name', () => {
  const refused =
    (...words: readonly string[]) =>
    () =>
      parseKubeletFlags(words);
  assert.throws(refused('--pod-infra-container-image=x'), { code: 'INVALID_INPUT', message: 'unknown flag: --pod-infra-container-image' });
  assert.throws(refused('--kubeconfig'), { message: 'flag needs an argument: --kubeconfig' });
  assert.throws(refused('--max-pods', 'many'), { message: 'invalid argument "many" for "--max-pods" flag: it is not a whole number' });
  assert.throws(refused('--fail-swap-on=perhaps'), { message: /"perhaps" for "--fail-swap-on"/ });
  assert.throws(refused('run'), { message: 'unknown command run' });
});

test('labels are pairs', () => {
  assert.deepEqual(labelsOf('a=b,c='), { a: 'b', c: '' });
  assert.throws(() => labelsOf('a'), { message: /a is not NAME=VALUE/ });
});
