import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { type ContainerConfig, LinuxContainerResources, LinuxContainerSecurityContext, MountPropagation } from '#wire/generated/cri.ts';
import type { ContainerAllocation } from '../ports/allocations.ts';
import type { MountedVolume } from '../ports/volumes.ts';
import { containerConfig } from './container-config.ts';
import { subPathWishes, volumeMounts } from './container-mounts.ts';
import { ContainerConfigError } from './environment.ts';

const cache: MountedVolume = { name: 'cache', hostPath: '/pods/u/cache', readOnly: false, relabel: true };
const config: MountedVolume = { name: 'config', hostPath: '/memory/config', readOnly: true, relabel: true };
const volumes = new Map([
  ['cache', cache],
  ['config', config],
]);

const input = {
  volumes,
  subPaths: new Map<number, string>(),
  images: new Map<string, string>(),
  env: new Map<string, string>(),
  canRecursiveReadOnly: false,
};
const withEnv = { ...input, env: new Map([['WHO', 'world']]) };

function configOf(container: DeepPartial<Container>, allocation?: ContainerAllocation): ContainerConfig {
  return containerConfig({
    pod: aPod(),
    container: aContainer(container),
    restartCount: 2,
    imageRef: 'sha256:1',
    env: new Map([['WHO', 'world']]),
    mounts: [],
    resources: LinuxContainerResources.create({ cpuShares: 2 }),
    security: LinuxContainerSecurityContext.create({}),
    allocation,
  });
}

test('command and arguments are expanded, the log has the number of the restart', () => {
  const made = configOf({ command: ['echo', '$(WHO)'], args: ['$$(WHO)', '$(NOBODY)'] });
  assert.deepEqual(
    [made.command, made.args],
    [
      ['echo', 'world'],
      ['$(WHO)', '$(NOBODY)'],
    ],
  );
  assert.deepEqual([made.metadata, made.logPath], [{ name: 'main', attempt: 2 }, 'main/2.log']);
  assert.deepEqual(made.envs, [{ key: 'WHO', value: new TextEncoder().encode('world') }]);
  assert.equal(made.image?.image, 'sha256:1');
});

test('a restarted kubelet finds in labels and annotations all that it has to know', () => {
  const lifecycle = { preStop: { exec: { command: ['bye'] } } };
  const { labels, annotations } = configOf({ lifecycle, ports: [{ containerPort: 80 }] });
  assert.deepEqual(labels, {
    'io.kubernetes.container.name': 'main',
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'uid-of-web',
  });
  const { 'io.kubernetes.container.hash': hash, ...others } = annotations;
  assert.match(hash ?? '', /^[0-9a-f]{1,8}$/);
  assert.deepEqual(others, {
    'io.kubernetes.container.restartCount': '2',
    'kubernode.dev/container-size': '{"requests":{},"limits":{}}',
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
    'io.kubernetes.pod.terminationGracePeriod': '30',
    'io.kubernetes.container.preStopHandler': '{"exec":{"command":["bye"]}}',
    'io.kubernetes.container.ports': '[{"containerPort":80}]',
  });
});

test('a volume is read-only if either side says so; propagation is as asked', () => {
  const container = aContainer({
    volumeMounts: [
      { name: 'cache', mountPath: '/rw', mountPropagation: 'HostToContainer' },
      { name: 'cache', mountPath: '/ro', readOnly: true },
      { name: 'config', mountPath: '/config' },
    ],
  });
  const mounts = volumeMounts(container, input).map((mount) => [mount.containerPath, mount.hostPath, mount.readonly, mount.propagation]);
  assert.deepEqual(mounts, [
    ['/rw', '/pods/u/cache', false, MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
    ['/ro', '/pods/u/cache', true, MountPropagation.PROPAGATION_PRIVATE],
    ['/config', '/memory/config', true, MountPropagation.PROPAGATION_PRIVATE],
  ]);
});

test('a part of a volume is mounted from where it was bound', () => {
  const container = aContainer({ volumeMounts: [{ name: 'cache', mountPath: '/data', subPathExpr: 'of-$(WHO)' }] });
  assert.deepEqual(subPathWishes(container, withEnv), [{ index: 0, volume: cache, relative: 'of-world' }]);
  assert.equal(volumeMounts(container, { ...withEnv, subPaths: new Map([[0, '/bound/0']]) })[0]?.hostPath, '/bound/0');
});

test('mounts that may not be are refused in upstream’s words', () => {
  const wishesOf = (mount: object) => () => subPathWishes(aContainer({ volumeMounts: [{ name: 'cache', mountPath: '/d', ...mount }] }), input);
  assert.throws(wishesOf({ subPath: '/etc' }), new ContainerConfigError({ message: 'error SubPath `/etc` must not be an absolute path' }));
  assert.throws(wishesOf({ subPath: 'a/../..' }), /must not contain '\.\.'/);
  assert.throws(wishesOf({ subPathExpr: '$(A)/$(B)' }), /missing value for A, B/);
  assert.throws(
    () => volumeMounts(aContainer({ volumeMounts: [{ name: 'none', mountPath: '/d' }] }), input),
    /cannot find volume "none" to mount into container "main"/,
  );
});

test('read-only mounts all the way down only where the runtime can; who insists is refused elsewhere', () => {
  const of = (mode: string, canRecursiveReadOnly: boolean, more: object = {}) => {
    const mount = { name: 'cache', mountPath: '/d', readOnly: true, recursiveReadOnly: mode, ...more };
    return volumeMounts(aContainer({ volumeMounts: [mount] }), { ...input, canRecursiveReadOnly })[0]?.recursiveReadOnly;
  };
  assert.deepEqual([of('Disabled', true), of('IfPossible', false), of('IfPossible', true), of('Enabled', true)], [false, false, true, true]);
  assert.throws(() => of('Enabled', false), {
    message: 'volume "cache" requested recursive read-only mode, but it is not supported by the runtime',
  });
  assert.throws(() => of('Enabled', true, { readOnly: false }), /but it is not read-only/);
  assert.throws(() => of('Enabled', true, { mountPropagation: 'HostToContainer' }), /not compatible with propagation/);
});

test('an image that is a volume is the runtime’s to mount, its sub path too', () => {
  const container = aContainer({ volumeMounts: [{ name: 'model', mountPath: '/model', subPath: 'weights' }] });
  const withImage = { ...input, images: new Map([['model', 'sha256:2']]) };
  const [mount] = volumeMounts(container, withImage);
  assert.deepEqual([mount?.image?.image, mount?.imageSubPath, mount?.hostPath, mount?.readonly], ['sha256:2', 'weights', '', true]);
  assert.deepEqual(subPathWishes(container, withImage), []);
});

test('what device plugins and the manager of CPUs gave is part of the container', () => {
  const made = configOf(
    {},
    {
      cpus: '2-3',
      devices: [{ containerPath: '/dev/x', hostPath: '/dev/host-x', permissions: 'rw' }],
      mounts: [{ containerPath: '/lib/x', hostPath: '/host/x', readOnly: true }],
      envs: { WHO: 'plugin', X: '1' },
      annotations: { note: 'of plugin' },
      cdiDevices: ['vendor.com/x=1'],
    },
  );
  assert.deepEqual([made.linux?.resources?.cpusetCpus, made.linux?.resources?.cpuShares], ['2-3', 2]);
  assert.deepEqual(made.devices, [{ containerPath: '/dev/x', hostPath: '/dev/host-x', permissions: 'rw' }]);
  assert.deepEqual([made.mounts[0]?.hostPath, made.mounts[0]?.readonly, made.CDIDevices], ['/host/x', true, [{ name: 'vendor.com/x=1' }]]);
  assert.equal(made.annotations['note'], 'of plugin');
  const last = new Map(made.envs.map(({ key, value }) => [key, new TextDecoder().decode(value)]));
  assert.deepEqual(Object.fromEntries(last), { WHO: 'world', X: '1' });
});
