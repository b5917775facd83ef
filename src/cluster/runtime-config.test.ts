import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RuntimeFacts, runtimeConfig } from './runtime-config.ts';

const facts: RuntimeFacts = {
  versionText: 'containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3\n',
  canRaiseOomScore: false,
  snapshotter: 'overlayfs',
  sandboxImage: 'localhost/kubernode/pause:1',
  root: '/data/one/containerd',
  state: '/run/kubernode/one/containerd',
  socket: '/run/kubernode/one/containerd.sock',
  runcRoot: '/run/kubernode/one/runc',
  systemdCgroup: false,
  optDir: '/data/one/opt',
  cniConfigDir: '/data/one/cni/net.d',
  cniBinDirs: ['/usr/lib/cni', '/opt/cni/bin'],
  registriesDir: '/data/one/registries',
};

test('containerd 1.6 gets version 2, with everything inside the folders of the cluster', () => {
  const config = runtimeConfig(facts);
  const lines = config.split('\n');
  for (const line of [
    'version = 2',
    'root = "/data/one/containerd"',
    'state = "/run/kubernode/one/containerd"',
    'address = "/run/kubernode/one/containerd.sock"',
    'path = "/data/one/opt"',
    'sandbox_image = "localhost/kubernode/pause:1"',
    'config_path = "/data/one/registries"',
    'restrict_oom_score_adj = true',
    'netns_mounts_under_state_dir = true',
    'bin_dir = "/usr/lib/cni"',
    'conf_dir = "/data/one/cni/net.d"',
    'snapshotter = "overlayfs"',
    'SystemdCgroup = false',
    'Root = "/run/kubernode/one/runc"',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.doesNotMatch(config, /runtime\.v1\.linux/);
});

test('containerd 2 gets version 3 with its own plugin names', () => {
  const config = runtimeConfig({
    ...facts,
    versionText: 'containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7',
    canRaiseOomScore: true,
    snapshotter: 'native',
  });
  assert.match(config, /^version = 3$/m);
  assert.match(config, /^\[plugins\."io\.containerd\.cri\.v1\.images"\.pinned_images]\nsandbox = "localhost\/kubernode\/pause:1"$/m);
  assert.match(config, /^\[plugins\."io\.containerd\.cri\.v1\.images"\.registry]\nconfig_path = "\/data\/one\/registries"$/m);
  assert.match(config, /^bin_dirs = \["\/usr\/lib\/cni","\/opt\/cni\/bin"]$/m);
  assert.match(config, /^restrict_oom_score_adj = false$/m);
  assert.match(config, /^snapshotter = "native"$/m);
  assert.doesNotMatch(config, /grpc\.v1\.cri/);
});

test('the runtime makes cgroups in the way that the kubelet does', () => {
  for (const versionText of [facts.versionText, 'containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7']) {
    assert.match(runtimeConfig({ ...facts, versionText, systemdCgroup: true }), /^SystemdCgroup = true$/m);
  }
});

test('containerd 2.0 knows one folder of plugins only', () => {
  const config = runtimeConfig({ ...facts, versionText: 'containerd github.com/containerd/containerd/v2 v2.0.5 fb4c30d' });
  assert.match(config, /^bin_dir = "\/usr\/lib\/cni"$/m);
  assert.doesNotMatch(config, /bin_dirs/);
});

test('a containerd that is too old is refused with the ways out', () => {
  for (const versionText of ['containerd github.com/containerd/containerd 1.4.13~ds1', 'nonsense']) {
    assert.throws(() => runtimeConfig({ ...facts, versionText }), { code: 'INVALID_INPUT', hint: /--runtime-endpoint/ });
  }
});
