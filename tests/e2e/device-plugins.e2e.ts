import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startDevicePlugin, type TestPlugin } from '../support/device-plugin.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const resource = 'example.com/gadget';
const field = 'example\\.com/gadget';
const cluster = await startCluster();
const { kubectl, paths } = cluster;
const directory = `${paths.kubeletRoot}/device-plugins`;
const gadgets = [{ id: 'g-0' }, { id: 'g-1' }];
let folder = '';
let nodeName = '';
let plugin: TestPlugin;
const plugins: TestPlugin[] = [];

const start = (more: object = {}) => {
  const started = startDevicePlugin({ directory, resource, devices: gadgets, folder, preStart: true, ...more });
  plugins.push(started);
  return started;
};
const nodeHas = async (which: 'capacity' | 'allocatable', count: number, name = field) =>
  outputOf(await kubectl(['wait', `node/${nodeName}`, `--for=jsonpath={.status.${which}.${name}}=${count}`, '--timeout=30s']));
const asking = (count: number) => ({ resources: { limits: { [resource]: String(count) } } });
const onNode = { nodeName: '' };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubernode-gadgets-'));
  await writeFile(join(folder, 'note'), 'from the plugin');
  nodeName = outputOf(await kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));
  onNode.nodeName = nodeName;
  plugin = start();
  await plugin.says('registered');
});

after(async () => {
  await Promise.all(plugins.map((one) => one.kill()));
  await rm(folder, { recursive: true, force: true });
});

test('devices of a plugin are what the node has, and a container that asks for one sees what the plugin gives', async () => {
  await nodeHas('capacity', 2);
  await nodeHas('allocatable', 2);
  await apply(kubectl, sleeper('holder', {}, asking(1)));
  await waitForPod(kubectl, 'holder');
  const script =
    'echo $DEVICES; cat /plugin/note; echo; echo gone > /dev/given; stat -c %F /dev/given; touch /plugin/x 2>/dev/null || echo read-only';
  const seen = outputOf(await kubectl(['exec', 'holder', '--', 'sh', '-c', script]));
  assert.deepEqual(seen.trim().split('\n'), ['g-1', 'from the plugin', 'character special file', 'read-only']); // the plugin prefers the last
  assert.equal(await plugin.says('allocate'), 'g-1');
  assert.equal(await plugin.says('pre-start'), 'g-1');
  const { status } = await getPod(kubectl, 'holder');
  assert.deepEqual(status?.containerStatuses?.[0]?.allocatedResourcesStatus, [
    { name: resource, resources: [{ resourceID: 'g-1', health: 'Healthy' }] },
  ]);
});

test('more than is free waits in the scheduler, and is refused by the kubelet', async () => {
  await apply(kubectl, sleeper('waiting', {}, asking(2)), sleeper('refused', onNode, asking(2)));
  await waitForField(kubectl, 'refused', '{.status.phase}', 'Failed');
  const { reason, message } = (await getPod(kubectl, 'refused')).status ?? {};
  assert.equal(reason, 'UnexpectedAdmissionError');
  assert.equal(
    message,
    `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${resource}. Requested: 2, Available: 1, which is unexpected`,
  );
  await waitForPod(kubectl, 'waiting', 'PodScheduled=false');
  outputOf(await kubectl('delete pod waiting refused'));
});

test('the app container takes over what the init container had', async () => {
  const initContainers = [{ name: 'first', image: busybox, imagePullPolicy: 'IfNotPresent', command: ['true'], ...asking(1) }];
  await apply(kubectl, sleeper('heir', { initContainers }, asking(1)));
  await waitForPod(kubectl, 'heir');
  assert.equal(outputOf(await kubectl(['exec', 'heir', '--', 'sh', '-c', 'echo $DEVICES'])).trim(), 'g-0');
  outputOf(await kubectl('delete pod heir'));
});

test('a device that fails is told of in the status of the pod that has it', async () => {
  plugin.tell([{ id: 'g-0' }, { id: 'g-1', health: 'Unhealthy' }]);
  await waitForField(kubectl, 'holder', '{.status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health}', 'Unhealthy');
  await nodeHas('allocatable', 1);
  await nodeHas('capacity', 2);
  plugin.tell(gadgets);
  await waitForField(kubectl, 'holder', '{.status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health}', 'Healthy');
});

test('a plugin that dies takes no pod along; while it is gone nobody new gets a device, and when it is back all is as before', async () => {
  await plugin.kill();
  await nodeHas('allocatable', 0);
  await nodeHas('capacity', 2);
  await apply(kubectl, sleeper('late', onNode, asking(1)));
  await waitForField(kubectl, 'late', '{.status.phase}', 'Failed');
  assert.equal(
    (await getPod(kubectl, 'late')).status?.message,
    `Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices ${resource}, which is unexpected`,
  );
  plugin = start();
  await plugin.says('registered');
  await nodeHas('allocatable', 2);
  assert.equal((await getPod(kubectl, 'holder')).status?.containerStatuses?.[0]?.restartCount, 0);
});

test('a kubelet that is killed and comes back keeps who has which device', async () => {
  const { pid } = JSON.parse(await readFile(paths.processFile('kubelet'), 'utf8')) as { readonly pid: number };
  process.kill(pid, 'SIGKILL');
  await cluster.up();
  await plugin.says('registered');
  await nodeHas('allocatable', 2);
  const holder = await getPod(kubectl, 'holder');
  assert.deepEqual([holder.status?.phase, holder.status?.containerStatuses?.[0]?.restartCount], ['Running', 0]);
  await apply(kubectl, sleeper('other', {}, asking(1)));
  await waitForPod(kubectl, 'other');
  assert.equal(outputOf(await kubectl(['exec', 'other', '--', 'sh', '-c', 'echo $DEVICES'])).trim(), 'g-0');
  outputOf(await kubectl('delete pod holder other'));
});

test('a plugin is found by its socket in the registry of plugins too', async () => {
  const found = start({ resource: 'example.com/found', registry: `${paths.kubeletRoot}/plugins_registry` });
  await found.says('registered');
  await nodeHas('allocatable', 2, 'example\\.com/found');
});

test('who speaks another version, or for a name that is nobody’s, is refused', async () => {
  const wrong = start({ resource: 'gadget' });
  assert.equal(await wrong.says('refused'), '/v1beta1.Registration/Register: the ResourceName "gadget" is invalid');
});
