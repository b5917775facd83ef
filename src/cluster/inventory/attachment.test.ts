import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAttachment } from './attachment.ts';

// As the CNI library of containerd 1.6.20 wrote it; ids are shortened.
const cached = {
  kind: 'cniCacheV1',
  containerId: '64113dcb',
  ifName: 'eth0',
  networkName: 'kubernode-one',
  cniArgs: [['K8S_POD_NAME', 'hp']],
  result: {
    cniVersion: '1.0.0',
    dns: {},
    interfaces: [
      { mac: 'fa:fb:e3:82:47:33', name: 'kn1a2b3c4d' },
      { mac: 'fa:fb:e3:82:47:33', name: 'veth59f67732' },
      { mac: 'da:cb:f3:81:21:e9', name: 'eth0', sandbox: '/run/kubernode/one/containerd/netns/cni-907038c8' },
    ],
    ips: [{ address: '10.64.0.5/24', gateway: '10.64.0.1', interface: 2 }],
  },
};

test('an attachment says which links, namespace and addresses a sandbox has', () => {
  assert.deepEqual(parseAttachment('/var/lib/cni/results/x', JSON.stringify(cached)), {
    file: '/var/lib/cni/results/x',
    network: 'kubernode-one',
    containerId: '64113dcb',
    hostLinks: ['kn1a2b3c4d', 'veth59f67732'],
    netns: '/run/kubernode/one/containerd/netns/cni-907038c8',
    addresses: ['10.64.0.5'],
  });
});

test('what is no attachment is none, and one without a result has nothing', () => {
  for (const text of ['', '{', '[]', 'null', '{"networkName":"x"}']) assert.equal(parseAttachment('f', text), undefined);
  assert.deepEqual(parseAttachment('f', '{"networkName":"x","containerId":"y"}')?.hostLinks, []);
});
