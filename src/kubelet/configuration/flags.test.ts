import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInput } from '#base/errors.ts';
import { labelsOf, parseKubeletFlags } from './flags.ts';
import { parseKubeletConfiguration } from './kubelet-configuration.ts';
import { layFlagsOver } from './merge-configurations.ts';

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

test('gates, headers and options are read to their fields', () => {
  const { own, configuration } = parseKubeletFlags([
    ...['--feature-gates', 'MemoryQoS=true', '--feature-gates=KubeletPSI=false', '-v', '4'],
    ...['--manifest-url-header', 'X-A:1,X-A:2', '--manifest-url-header=X-B:3', '--cpu-manager-policy-options', 'full-pcpus-only=true'],
    ...['--minimum-image-ttl-duration', '5m'],
  ]);
  assert.deepEqual(own, { v: '4' });
  assert.deepEqual(configuration, {
    featureGates: { MemoryQoS: true, KubeletPSI: false },
    staticPodURLHeader: { 'X-A': ['1', '2'], 'X-B': ['3'] },
    cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' },
    imageMinimumGCAge: '5m',
  });
  parseKubeletConfiguration(configuration, 'flags');
});

test('who misspells a flag is told the one that is like it', () => {
  const hintOf = (word: string): string | undefined => {
    try {
      parseKubeletFlags([word]);
      return undefined;
    } catch (error) {
      return error instanceof InvalidInput ? error.hint : undefined;
    }
  };
  assert.equal(hintOf('--node-label'), 'did you mean --node-labels? `kubernode kubelet --help` lists them');
  assert.equal(hintOf('--nonsense'), '`kubernode kubelet --help` lists them');
});

test('a flag counts more than the file: maps as a whole, gates and tables field by field', () => {
  const file = { evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' }, featureGates: { MemoryQoS: true }, maxPods: 3 };
  const flags = { evictionHard: { 'memory.available': '2Gi' }, featureGates: { KubeletPSI: true }, authentication: { anonymous: { enabled: true } } };
  assert.deepEqual(layFlagsOver({ ...file, authentication: { webhook: { enabled: false } } }, flags), {
    evictionHard: { 'memory.available': '2Gi' },
    featureGates: { MemoryQoS: true, KubeletPSI: true },
    maxPods: 3,
    authentication: { webhook: { enabled: false }, anonymous: { enabled: true } },
  });
});

test('labels are pairs', () => {
  assert.deepEqual(labelsOf('a=b,c='), { a: 'b', c: '' });
  assert.throws(() => labelsOf('a'), { message: /a is not NAME=VALUE/ });
});
