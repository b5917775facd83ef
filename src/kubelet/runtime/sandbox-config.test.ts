import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { LinuxContainerResources, NamespaceMode, type PodSandboxConfig, Protocol, SecurityProfile_ProfileType } from '#wire/generated/cri.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { usersOfNode } from './user-namespaces.ts';

const dns = {
  clusterDomain: 'cluster.local',
  clusterDns: ['10.96.0.10'],
  expectsClusterDns: true,
  host: { servers: ['1.1.1.1'], searches: ['lan'], options: [] },
};
const resources = { resources: LinuxContainerResources.create({}), overhead: LinuxContainerResources.create({}) };

function configOf(pod: DeepPartial<Pod> = {}, attempt = 0): PodSandboxConfig {
  return sandboxConfig({ pod: aPod(pod), attempt, cgroupParent: '/kubepods/pod1', logDirectory: '/logs/web', dns, users: usersOfNode, resources })
    .config;
}

test('a plain pod: names, labels, cgroup, DNS of the cluster, the runtime’s own seccomp profile', () => {
  const config = configOf({ metadata: { labels: { app: 'web', 'io.kubernetes.pod.name': 'forged' }, annotations: { note: 'kept' } } }, 3);
  assert.deepEqual(config.metadata, { name: 'web', namespace: 'default', uid: 'uid-of-web', attempt: 3 });
  assert.deepEqual(config.labels, {
    app: 'web',
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'uid-of-web',
  });
  assert.deepEqual([config.annotations, config.hostname, config.logDirectory], [{ note: 'kept' }, 'web', '/logs/web']);
  assert.deepEqual(config.dnsConfig?.searches, ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'lan']);
  assert.equal(config.linux?.cgroupParent, '/kubepods/pod1');
  assert.equal(config.linux?.securityContext?.seccomp?.profileType, SecurityProfile_ProfileType.RuntimeDefault);
});

test('a pod in the node’s namespaces has no name of its own', () => {
  const config = configOf({ spec: { hostNetwork: true, hostPID: true, hostIPC: true } });
  const { network, pid, ipc } = config.linux?.securityContext?.namespaceOptions ?? {};
  assert.deepEqual([config.hostname, network, pid, ipc], ['', NamespaceMode.NODE, NamespaceMode.NODE, NamespaceMode.NODE]);
});

test('processes are shared in the pod only when it asks for that', () => {
  const pidOf = (config: PodSandboxConfig) => config.linux?.securityContext?.namespaceOptions?.pid;
  assert.deepEqual([pidOf(configOf()), pidOf(configOf({ spec: { shareProcessNamespace: true } }))], [NamespaceMode.CONTAINER, NamespaceMode.POD]);
});

test('ports of app containers only; of equal ones in a container the first counts', () => {
  const port = { containerPort: 80, hostPort: 8080, protocol: 'UDP', hostIP: '127.0.0.1' };
  const containers = [aContainer({ ports: [port, port, { name: 'a', containerPort: 1 }, { name: 'a', containerPort: 2 }] })];
  const config = configOf({ spec: { containers, initContainers: [aContainer({ name: 'init', ports: [{ containerPort: 9 }] })] } });
  assert.deepEqual(config.portMappings, [
    { protocol: Protocol.UDP, containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' },
    { protocol: Protocol.TCP, containerPort: 1, hostPort: 0, hostIp: '' },
  ]);
});

test('one privileged container makes the sandbox privileged; users, groups and sysctls are those of the pod', () => {
  const securityContext = {
    runAsUser: 7,
    runAsGroup: 8,
    fsGroup: 9,
    supplementalGroups: [10],
    sysctls: [{ name: 'net/core/somaxconn', value: '1' }],
  };
  const containers = [aContainer(), aContainer({ name: 'root', securityContext: { privileged: true } })];
  const linux = configOf({ spec: { containers, securityContext } }).linux;
  const { privileged, runAsUser, runAsGroup, supplementalGroups } = linux?.securityContext ?? {};
  assert.deepEqual([privileged, runAsUser, runAsGroup, supplementalGroups], [true, { value: 7 }, { value: 8 }, [9, 10]]);
  assert.deepEqual(linux?.sysctls, { 'net.core.somaxconn': '1' });
});
