import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterSettings, encodeSettings, parseSettings } from './settings.ts';

const settings: ClusterSettings = {
  version: 1,
  name: 'one',
  dataDir: '/data/one',
  apiOnly: false,
  nodeName: 'host-1',
  nodeAddress: '192.0.2.7',
  apiAddress: '127.0.0.1',
  apiPort: 6443,
  kubeletPort: 10250,
  podCIDR: '10.64.16.0/20',
  nodePodCIDR: '10.64.16.0/24',
  serviceCIDR: '10.43.0.0/16',
  clusterDomain: 'cluster.local',
  clusterDNS: [],
  store: { kind: 'etcd', servers: ['https://192.0.2.1:2379'], caFile: '/etcd/ca.pem' },
  runtime: {
    kind: 'private',
    endpoint: 'unix:///run/kubernode/one/containerd.sock',
    sandboxImage: 'localhost/kubernode/pause:1',
    cniConfigDir: '/data/one/cni/net.d',
    ownsCniConfig: true,
    cniBinDirs: ['/usr/lib/cni'],
    snapshotter: 'overlayfs',
  },
  timings: { nodeLeaseRenewMs: 500 },
  kubelet: { maxPods: 30 },
};

const broken = (change: Record<string, unknown>) => () => parseSettings(JSON.stringify({ ...settings, ...change }), 'settings.json');

test('settings that were written are read back equal', () => {
  assert.deepEqual(parseSettings(encodeSettings(settings), 'settings.json'), settings);
});

test('a broken setting is refused with its path', () => {
  assert.throws(broken({ apiPort: '6443' }), { code: 'INVALID_INPUT', message: 'settings.json: apiPort is not a number of 1 to 65535' });
  assert.throws(broken({ nodeName: undefined }), { message: 'settings.json: nodeName is not a text' });
  assert.throws(broken({ runtime: { ...settings.runtime, endpoint: '/run/x.sock' } }), {
    message: 'settings.json: runtime.endpoint is not of the form unix:///path',
  });
  assert.throws(broken({ store: { kind: 'mysql' } }), { message: 'settings.json: store.kind is "mysql", not one of sqlite, etcd' });
  assert.throws(broken({ store: { kind: 'etcd', servers: [] } }), { message: 'settings.json: store.servers names no etcd server' });
  assert.throws(broken({ podCIDR: '10.64.1.0/20' }), { message: '10.64.1.0/20 has bits set beyond its prefix' });
  assert.throws(broken({ speed: 1 }), { message: 'settings.json: speed is not a known setting' });
  assert.throws(broken({ timings: { podGcMs: -1 } }), { message: /timings.podGcMs is not a number/ });
});

test('text that is not JSON names the file', () => {
  assert.throws(() => parseSettings('{', '/data/one/settings.json'), { code: 'INVALID_INPUT', message: '/data/one/settings.json is not JSON' });
});
