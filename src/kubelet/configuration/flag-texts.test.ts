import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagTexts } from './flag-texts.ts';

test('each field is told as its flag would say it', () => {
  const texts = flagTexts({
    port: 10_250,
    failSwapOn: false,
    clusterDNS: ['10.96.0.10', 'fd00::a'],
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    kubeReserved: { cpu: '100m' },
    registerWithTaints: [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'NoExecute' },
    ],
    authentication: { x509: { clientCAFile: '/ca.crt' } },
  });
  const expected = {
    port: '10250',
    'fail-swap-on': 'false',
    'cluster-dns': '10.96.0.10,fd00::a',
    'eviction-hard': 'memory.available<100Mi,nodefs.available<10%',
    'kube-reserved': 'cpu=100m',
    'register-with-taints': 'a=b:NoSchedule,c:NoExecute',
    'client-ca-file': '/ca.crt',
    'max-pods': '',
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(texts[name], value, name);
});
