import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupRoots } from '../cgroup-roots.ts';
import { clusterPaths } from '../cluster-paths.ts';
import type { FoundCluster } from '../find-clusters.ts';
import { hostNames } from '../host-names.ts';
import type { HostObjects } from '../inventory/host-objects.ts';
import { type AuditEntry, auditEntries, type LivingOwners } from './audit-entries.ts';

const sandbox = 'a'.repeat(64);
const container = 'b'.repeat(64);
const dead = 'd'.repeat(64);
const names = hostNames('one');
const paths = clusterPaths(names.runDir, '/data/one');

const running: FoundCluster = {
  names,
  paths,
  settings: undefined,
  runtime: undefined,
  hasRunDir: true,
  hasSupervisor: true,
  processes: { kubelet: { pid: 7, startTicks: 1 } },
};
const nothing: HostObjects = {
  shims: [],
  mounts: [],
  bridge: undefined,
  links: [],
  reservations: [],
  attachments: [],
  cgroups: [],
  hostPortRules: [],
  rules: '',
  podDirectories: [],
  shimSockets: [],
};
const owners: LivingOwners = {
  containers: new Map([
    [sandbox, 'sandbox of pod default/web'],
    [container, 'container c of pod default/web'],
  ]),
  pods: new Map([['uid-1', 'default/web']]),
};
const attachment = (containerId: string, link: string) => ({
  file: `/var/lib/cni/results/${containerId}`,
  network: names.network,
  containerId,
  hostLinks: [names.bridge, link],
  netns: `/netns/${link}`,
  addresses: [],
});
const ownersOf = (entries: readonly AuditEntry[], kind: AuditEntry['kind']) =>
  Object.fromEntries(entries.filter((entry) => entry.kind === kind).map(({ object, owner }) => [object, owner]));

test('what belongs to a living sandbox, container or pod has it as its owner, what belongs to a dead one has none', () => {
  const entries = auditEntries(
    running,
    {
      ...nothing,
      shims: [
        { pid: 10, startTicks: 1, containerId: sandbox },
        { pid: 11, startTicks: 1, containerId: dead },
      ],
      attachments: [attachment(sandbox, 'veth1'), attachment(dead, 'veth2')],
      links: ['veth1', 'veth2', 'veth3'],
      reservations: [
        { address: '10.64.0.2', containerId: sandbox, file: '' },
        { address: '10.64.0.3', containerId: dead, file: '' },
      ],
      mounts: [
        { target: '/netns/veth1', fsType: 'nsfs' },
        { target: '/netns/veth9', fsType: 'nsfs' },
        { target: `${paths.containerdState}/tasks/${container}/rootfs`, fsType: 'overlay' },
        { target: `${paths.containerdState}/tasks/${dead}/rootfs`, fsType: 'overlay' },
        { target: paths.memoryVolumes, fsType: 'tmpfs' },
        { target: `${paths.kubeletRoot}/pods/uid-1/volumes/x`, fsType: 'tmpfs' },
        { target: `${paths.kubeletRoot}/pods/uid-2/volumes/x`, fsType: 'tmpfs' },
      ],
      cgroups: [
        `/kubernode/one/besteffort/poduid-1/${container}`,
        '/kubernode/one/besteffort/poduid-2',
        '/kubernode/one/besteffort',
        '/kubernode/one',
      ],
    },
    owners,
  );
  assert.deepEqual(ownersOf(entries, 'shim'), {
    [`pid 10, sandbox ${sandbox}`]: 'sandbox of pod default/web',
    [`pid 11, sandbox ${dead}`]: undefined,
  });
  assert.deepEqual(ownersOf(entries, 'link'), { veth1: 'sandbox of pod default/web', veth2: undefined, veth3: undefined });
  assert.deepEqual(ownersOf(entries, 'address'), { '10.64.0.2': 'sandbox of pod default/web', '10.64.0.3': undefined });
  assert.deepEqual(ownersOf(entries, 'network-namespace'), { '/netns/veth1': 'sandbox of pod default/web', '/netns/veth9': undefined });
  assert.deepEqual(ownersOf(entries, 'mount'), {
    [`${paths.containerdState}/tasks/${container}/rootfs`]: 'container c of pod default/web',
    [`${paths.containerdState}/tasks/${dead}/rootfs`]: undefined,
    [paths.memoryVolumes]: 'cluster one',
    [`${paths.kubeletRoot}/pods/uid-1/volumes/x`]: 'pod default/web',
    [`${paths.kubeletRoot}/pods/uid-2/volumes/x`]: undefined,
  });
  assert.deepEqual(ownersOf(entries, 'cgroup'), {
    [`/kubernode/one/besteffort/poduid-1/${container}`]: 'container c of pod default/web',
    '/kubernode/one/besteffort/poduid-2': undefined,
    '/kubernode/one/besteffort': 'cluster one',
    '/kubernode/one': 'cluster one',
  });
});

test('slices of systemd belong to the same pods and containers', () => {
  const slices = names.sliceRoot;
  const tier = `${slices}/kubernode-one-besteffort.slice`;
  const entries = auditEntries(
    running,
    {
      ...nothing,
      cgroups: [
        `${tier}/kubernode-one-besteffort-poduid_1.slice/cri-containerd-${container}.scope`,
        `${tier}/kubernode-one-besteffort-poduid_1.slice`,
        `${slices}/kubernode-one-poduid_2.slice`,
        tier,
        slices,
      ],
    },
    owners,
  );
  assert.equal(slices, '/kubernode.slice/kubernode-one.slice');
  assert.deepEqual(
    entries.filter(({ kind }) => kind === 'cgroup').map(({ owner }) => owner),
    ['container c of pod default/web', 'pod default/web', undefined, 'cluster one', 'cluster one'],
  );
});

test('cgroups below a root of the user’s own are found by the cluster’s settings', () => {
  const [, , folder, slice] = cgroupRoots(names, { kubelet: { cgroupRoot: '/my-pods/' } });
  assert.deepEqual([folder, slice], ['/my-pods/kubernode/one', '/my_pods.slice/my_pods-kubernode.slice/my_pods-kubernode-one.slice']);
  assert.deepEqual(cgroupRoots(names, { kubelet: {} }), [names.cgroupRoot, names.sliceRoot]);
});

test('of a cluster without a living part everything on the host is left over, but its data is kept on purpose', () => {
  const stopped: FoundCluster = { ...running, hasSupervisor: false, processes: {} };
  const entries = auditEntries(stopped, { ...nothing, bridge: names.bridge, cgroups: ['/kubernode/one'], podDirectories: ['uid-9'] }, owners);
  assert.deepEqual(
    entries.map(({ kind, object, owner }) => [kind, object, owner]),
    [
      ['link', names.bridge, undefined],
      ['cgroup', '/kubernode/one', undefined],
      ['directory', names.runDir, undefined],
      ['directory', `${paths.kubeletRoot}/pods/uid-9`, 'data of cluster one, which is stopped'],
    ],
  );
});

test('a node whose kubelet has ended owns what it has while its pods run', () => {
  const ended: FoundCluster = { ...running, hasSupervisor: false, processes: {}, runtime: { kind: 'external', endpoint: 'unix:///x' } };
  const objects = { ...nothing, cgroups: [`${names.cgroupRoot}/burstable`], podDirectories: ['uid-1'] };
  const ownersOf = (living: LivingOwners) => auditEntries(ended, objects, living).map(({ kind, owner }) => `${kind}: ${owner}`);
  const node = 'node one, whose kubelet has ended';
  assert.deepEqual(ownersOf(owners).slice(0, 2), [`cgroup: ${node}`, `directory: ${node}`]);
  assert.deepEqual(ownersOf({ ...owners, pods: new Map() }).slice(0, 2), ['cgroup: undefined', 'directory: undefined']);
});
