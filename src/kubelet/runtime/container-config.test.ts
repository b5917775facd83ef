import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { type ContainerConfig, LinuxContainerResources, LinuxContainerSecurityContext, MountPropagation } from '#wire/generated/cri.ts';
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

function configOf(container: DeepPartial<Container>): ContainerConfig {
  return containerConfig({
    pod: aPod(),
    container: aContainer(container),
    restartCount: 2,
    imageRef: 'sha256:1',
    env: new Map([['WHO', 'world']]),
    mounts: [],
    resources: LinuxContainerResources.create({ cpuShares: 2 }),
    security: LinuxContainerSecurityContext.create({}),
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
  const mounts = volumeMounts(container, volumes, new Map()).map((mount) => [mount.containerPath, mount.hostPath, mount.readonly, mount.propagation]);
  assert.deepEqual(mounts, [
    ['/rw', '/pods/u/cache', false, MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
    ['/ro', '/pods/u/cache', true, MountPropagation.PROPAGATION_PRIVATE],
    ['/config', '/memory/config', true, MountPropagation.PROPAGATION_PRIVATE],
  ]);
});

test('a part of a volume is mounted from where it was bound', () => {
  const container = aContainer({ volumeMounts: [{ name: 'cache', mountPath: '/data', subPathExpr: 'of-$(WHO)' }] });
  assert.deepEqual(subPathWishes(container, volumes, new Map([['WHO', 'world']])), [{ index: 0, volume: cache, relative: 'of-world' }]);
  assert.equal(volumeMounts(container, volumes, new Map([[0, '/bound/0']]))[0]?.hostPath, '/bound/0');
});

test('mounts that may not be are refused in upstream’s words', () => {
  const wishesOf = (mount: object) => () =>
    subPathWishes(aContainer({ volumeMounts: [{ name: 'cache', mountPath: '/d', ...mount }] }), volumes, new Map());
  assert.throws(wishesOf({ subPath: '/etc' }), new ContainerConfigError({ message: 'error SubPath `/etc` must not be an absolute path' }));
  assert.throws(wishesOf({ subPath: 'a/../..' }), /must not contain '\.\.'/);
  assert.throws(wishesOf({ subPathExpr: '$(A)/$(B)' }), /missing value for A, B/);
  assert.throws(
    () => volumeMounts(aContainer({ volumeMounts: [{ name: 'none', mountPath: '/d' }] }), volumes, new Map()),
    /cannot find volume "none" to mount into container "main"/,
  );
});
