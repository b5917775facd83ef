import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';
import { runKubelet } from '#kubelet/kubelet.ts';
import { type KubeletConfig, type KubeletHost, kubeletTimings } from '#kubelet/kubelet-config.ts';
import { networkHttpGet, networkProbers } from '#kubelet/probes/network-clients.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { linuxCpuTopology } from '#os/linux/cpu-topology.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { linuxFolderWatch } from '#os/linux/folder-watch.ts';
import { linuxHost } from '#os/linux/host-facts.ts';
import { linuxLogFiles } from '#os/linux/log-files.ts';
import { createLinuxMounter } from '#os/linux/mounter.ts';
import { createPluginPrograms } from '#os/linux/plugin-programs.ts';
import { createLinuxUsage } from '#os/linux/usage.ts';
import type { CriRuntime } from '#wire/cri/cri-runtime.ts';
import { getText } from '#wire/http/get-text.ts';
import { createPluginSockets } from '#wire/plugins/plugin-sockets.ts';
import { nodeKeys } from '../../src/bin/assembly/node-keys.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { hostSide, never } from '../support/host-side.ts';

// The kubelet as a function: a real containerd and kernel below it, a real API server above it, no scheduler and no controllers.
setMaxListeners(0);
const side = await hostSide();
const roots = { root: `${side.dataDir}/kubelet`, podLogs: `${side.dataDir}/pod-logs` };
let api: TestApiServer;
let client: Client;
let runtime: CriRuntime;
let kubelet: { stop(): Promise<void> };

before(async () => {
  [api] = await Promise.all([startApiServer(), side.up()]);
  runtime = side.runtime();
  client = createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' }, automountServiceAccountToken: false }, never);
  kubelet = await startKubelet();
});
after(async () => {
  await kubelet.stop();
  runtime.close();
  await api[Symbol.asyncDispose]();
});

const configuration = parseKubeletConfiguration({}, 'defaults');

async function startKubelet(): Promise<{ stop(): Promise<void> }> {
  const end = new AbortController();
  const { certPem, keyPem } = await api.servingCertificate('system:node:node-1', ['system:nodes']);
  const pki = {
    directory: `${roots.root}/pki`,
    certFile: `${roots.root}/server.crt`,
    keyFile: `${roots.root}/server.key`,
    ca: `${roots.root}/ca.crt`,
  };
  await mkdir(roots.root, { recursive: true });
  await Promise.all([writeFile(pki.certFile, certPem), writeFile(pki.keyFile, keyPem), writeFile(pki.ca, api.caPem)]);
  const config: KubeletConfig = {
    nodeName: 'node-1',
    nodeAddress: '127.0.0.1',
    nodeAddresses: ['127.0.0.1'],
    givenAddresses: [],
    hasExternalCloud: false,
    kubeletPort: 0,
    listenAddress: '127.0.0.1',
    version: 'v1.36.0',
    roots,
    memoryVolumes: `/run/kubernode/${side.name}/volumes`,
    cgroupRoot: `/kubernode/${side.name}/pods`,
    clusterDomain: 'cluster.local',
    clusterDns: [],
    expectsClusterDns: true,
    resolvConf: 'nameserver 127.0.0.1\n',
    configuration,
    nodeLabels: {},
    certificates: { ...pki, serving: { kind: 'files', ...pki }, clientCaFile: pki.ca, rotateClient: false },
    dockerConfigs: [],
    credentialProviders: undefined,
    timings: kubeletTimings(configuration, { crashBackoffBaseMs: 300, housekeepingMs: 200 }),
  };
  const mounter = await createLinuxMounter();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    const host: KubeletHost = {
      client: createClient(api.server.transportAs({ name: 'system:node:node-1', groups: ['system:nodes'] })),
      runtime,
      downloads: runtime,
      files: createLinuxFiles(),
      folderWatch: linuxFolderWatch,
      manifests: { get: getText },
      mounter,
      cgroups: createLinuxCgroups(),
      slices: () => assert.fail('the driver is cgroupfs'),
      host: linuxHost,
      usage: createLinuxUsage(),
      logFiles: linuxLogFiles,
      cpuTopology: linuxCpuTopology,
      logind: async () => assert.fail('nobody asked for it'),
      pluginPrograms: createPluginPrograms({}),
      pluginSockets: createPluginSockets(systemClock),
      probers: networkProbers(systemClock),
      httpGet: networkHttpGet,
      keys: nodeKeys,
      redial: () => undefined, // in process
      clock: systemClock,
      logger: silentLogger,
      random: Math.random,
      ship: async () => ({ isWatched: false }),
      onReady: () => resolve(),
    };
    ended = runKubelet(config, host, end.signal);
    ended.catch(reject);
  });
  return {
    async stop() {
      end.abort();
      await ended;
    },
  };
}

/** A pod that is put on the node by its name, without a scheduler. */
async function create(name: string, script: string, spec: Partial<Pod['spec']> = {}): Promise<Pod> {
  const container = { name: 'main', image: 'docker.io/library/busybox:latest', imagePullPolicy: 'Never', command: ['sh', '-c', script] };
  const full = { nodeName: 'node-1', terminationGracePeriodSeconds: 1, ...spec, containers: [container] };
  return await client.create(podKind, { metadata: { name, namespace: 'default' }, spec: full }, never);
}

/** Follows the pod until it is as wanted. */
async function until(name: string, wanted: (pod: Pod) => boolean): Promise<Pod> {
  for await (const event of client.watch(podKind, { namespace: 'default', fieldSelector: `metadata.name=${name}` }, AbortSignal.timeout(30_000))) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && wanted(event.object)) return event.object;
  }
  throw new Error(`the watch of ${name} ended`);
}

/** Deletes the pods, and waits until their objects and all of them on the node are gone. */
async function remove(...pods: readonly Pod[]): Promise<void> {
  const deadline = AbortSignal.timeout(20_000);
  for (const { metadata } of pods) await client.delete(podKind, { namespace: 'default', name: metadata.name }, {}, never);
  const left = async (pod: Pod) => [
    ...(await client.list(podKind, { fieldSelector: `metadata.name=${pod.metadata.name}` }, never)).items,
    ...(await leftOf(pod)),
  ];
  for (const pod of pods) while ((await left(pod)).length > 0) await systemClock.sleep(20, deadline);
}

const containerOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
const isReady = (pod: Pod) => pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const endless = 'trap "exit 0" TERM; while :; do [ -e /end ] && exit 3; sleep 0.05; done';
const uidFilter = (pod: Pod) => ({ labelSelector: { 'io.kubernetes.pod.uid': pod.metadata.uid } });

async function endItself(pod: Pod | undefined): Promise<void> {
  const id = containerOf(pod)?.containerID?.replace('containerd://', '') ?? '';
  await runtime.execSync(id, ['touch', '/end'], 5, never);
}

/** Everything of the pod that is on the node. */
async function leftOf(pod: Pod): Promise<readonly unknown[]> {
  const files = createLinuxFiles();
  const cgroups = createLinuxCgroups();
  return [
    ...(await runtime.listPodSandboxes(uidFilter(pod), never)),
    ...(await runtime.listContainers(uidFilter(pod), never)),
    ...(await files.list(`${roots.root}/pods`, never)).filter(({ name }) => name === pod.metadata.uid),
    ...(await files.list(roots.podLogs, never)).filter(({ name }) => name.includes(pod.metadata.uid)),
    ...(await cgroups.children(`/kubernode/${side.name}/pods/besteffort`, never)).filter((name) => name.includes(pod.metadata.uid)),
  ];
}

test('a pod with the name of the node runs, with an address of its own, and leaves nothing when it is deleted', async () => {
  const pod = await create('plain', endless);
  const running = await until('plain', isReady);
  assert.equal(running?.status?.phase, 'Running');
  assert.match(running?.status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
  assert.equal((await runtime.listPodSandboxes(uidFilter(pod), never)).length, 1);
  assert.equal((await leftOf(pod)).length, 5);
  await remove(pod);
});

test('a container that ends is started again in the same sandbox, and its end can be read', async () => {
  const pod = await create('crash', endless);
  const before = await until('crash', isReady);
  const [sandbox] = await runtime.listPodSandboxes(uidFilter(pod), never);
  await endItself(before);
  const after = await until('crash', (now) => containerOf(now)?.restartCount === 1 && isReady(now));
  assert.equal(containerOf(after)?.lastState?.terminated?.exitCode, 3);
  assert.equal(after?.status?.podIP, before?.status?.podIP);
  assert.deepEqual(
    (await runtime.listPodSandboxes(uidFilter(pod), never)).map(({ id }) => id),
    [sandbox?.id],
  );
  await remove(pod);
});

test('a restarted kubelet leaves what runs alone, starts what died meanwhile, ends what was deleted meanwhile', async () => {
  const [stays, dies, goes] = [await create('stays', endless), await create('dies', endless), await create('goes', endless)];
  const [running, dying] = [await until('stays', isReady), await until('dies', isReady), await until('goes', isReady)];
  await kubelet.stop();
  await endItself(dying);
  await client.delete(podKind, { namespace: 'default', name: 'goes' }, { gracePeriodSeconds: 0 }, never);
  kubelet = await startKubelet();
  const restarted = await until('dies', (now) => containerOf(now)?.restartCount === 1 && isReady(now));
  assert.equal(restarted?.status?.podIP, dying?.status?.podIP);
  const now = await client.get(podKind, { namespace: 'default', name: 'stays' }, never);
  assert.deepEqual([containerOf(now)?.containerID, containerOf(now)?.restartCount], [containerOf(running)?.containerID, 0]);
  const deadline = AbortSignal.timeout(10_000);
  while ((await leftOf(goes)).length > 0) await systemClock.sleep(20, deadline);
  await remove(stays, dies);
});

test('a pod that ends by itself keeps its end and its logs until it is deleted', async () => {
  const pod = await create('job', 'echo done > /dev/termination-log', { restartPolicy: 'Never' });
  const ended = await until('job', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(containerOf(ended)?.state?.terminated?.message, 'done\n');
  assert.equal((await runtime.listContainers(uidFilter(pod), never)).length, 1);
  await remove(pod);
});
