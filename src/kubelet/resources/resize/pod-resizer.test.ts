import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { Container, Pod, ResourceRequirements } from '#api/types/core-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { Unsupported } from '#wire/cri/errors.ts';
import type { LinuxContainerResources } from '#wire/generated/cri.ts';
import { NodeRoom } from '../../admission/node-room.ts';
import { CgroupSettingsRefused } from '../../ports/cgroups.ts';
import { computeActions } from '../../runtime/compute-actions.ts';
import type { ContainerRecord, PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import { aContainer, aSandbox, observedOf } from '../../runtime/testing/observed.ts';
import { podCgroupSettings } from '../cgroup-settings.ts';
import { someCgroupOptions } from '../testing/cgroup-options.ts';
import { PodResizer } from './pod-resizer.ts';
import { SizeRecords } from './size-records.ts';
import { sizeOf } from './sizes.ts';

const { signal } = new AbortController();
const roots = { root: '/kubelet', podLogs: '/logs' };
const cgroup = '/pods/burstable/poduid-of-web';
const options = someCgroupOptions();

/** One node of four CPUs with a pod `web` that runs, and a kubelet that can be started again. */
class World {
  readonly clock = new FakeClock();
  readonly host = new MemoryCgroups();
  readonly files = createMemoryFiles(new MemoryTree());
  readonly told: string[] = [];
  readonly updates: string[] = [];
  readonly sandboxUpdates: string[] = [];
  knowsSandboxes = false;
  readonly woken: string[] = [];
  usage = 0;
  refusing: string | undefined;
  state: PodRuntimeState | undefined;
  room: NodeRoom;
  resizer: PodResizer;

  constructor() {
    [this.room, this.resizer] = this.#kubelet();
  }

  restart(): void {
    [this.room, this.resizer] = this.#kubelet();
  }

  #kubelet(): [NodeRoom, PodResizer] {
    const { host, files, clock } = this;
    const update = async (id: string, { memoryLimitInBytes, cpuQuota, cpuShares }: LinuxContainerResources) => {
      if (this.refusing !== undefined) throw new Error(this.refusing);
      this.updates.push(`${id} memory=${memoryLimitInBytes} quota=${cpuQuota} shares=${cpuShares}`);
    };
    const updateSandbox = async (id: string, { memoryLimitInBytes, cpuQuota, cpuShares }: LinuxContainerResources) => {
      if (!this.knowsSandboxes) throw new Unsupported({ message: 'unknown method UpdatePodSandboxResources' });
      this.sandboxUpdates.push(`${id} memory=${memoryLimitInBytes} quota=${cpuQuota} shares=${cpuShares}`);
    };
    const resizer = new PodResizer({
      records: new SizeRecords(files, roots),
      cgroups: { read: (path) => host.read(path), ensure: (path, settings) => host.ensure(path, settings), memoryUsageBytes: async () => this.usage },
      runtime: { updateContainerResources: update, updatePodSandboxResources: updateSandbox },
      options,
      facts: { cpuManagerPolicy: 'none', memoryManagerPolicy: 'None', maySwap: () => false },
      events: { emit: (_pod, { type, reason, message }) => void this.told.push(`${type} ${reason} ${message}`) },
      heldPod: (uid) => this.room.held(uid),
      observe: (uid) => (uid === 'uid-of-web' ? this.state : undefined),
      wake: (uid) => void this.woken.push(uid),
      clock,
      timing: { errorRetryMs: 10_000, deferredRetryMs: 180_000 },
    });
    const room = new NodeRoom({
      isGone: () => false,
      node: () => ({
        name: 'node-1',
        labels: {},
        allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
        taints: [],
        pressures: [],
        hasSupplementalGroupsPolicy: false,
        hasAppArmor: false,
        kernelVersion: '6.1',
        isShuttingDown: false,
      }),
      refreshNode: async () => undefined,
      allowedSysctls: [],
      preempt: async () => undefined,
      resizes: resizer,
    });
    return [room, resizer];
  }

  /** The pod as it is started: let in, its cgroup made, its container running. */
  async start(pod: Pod): Promise<void> {
    await this.room.admit(pod, observedOf([]), signal);
    await this.host.ensure(cgroup, podCgroupSettings(pod, options.pod));
    await this.files.ensureDirectory('/kubelet/pods/uid-of-web', 0o750, signal);
    this.state = observedOf([aSandbox()], [running(pod)]);
  }

  /** What a worker does of its list when it looks at the pod. @returns the pod as the room has it */
  async sync(pod: Pod): Promise<Pod> {
    const observed = this.resizer.observed(this.state ?? observedOf([]));
    const answer = await this.room.admit(pod, observed, signal);
    if (!answer.admitted) throw new Error(answer.message);
    await this.resizer.apply(answer.pod, observed, cgroup, signal);
    return answer.pod;
  }

  status(pod: Pod) {
    const [container] = pod.spec?.containers ?? [];
    const [record] = this.state?.containers ?? [];
    if (container === undefined || record === undefined) throw new Error('the pod runs');
    const conditions = this.resizer.conditionsOf(pod).map(({ type, reason, message }) => [type, reason, message].filter(Boolean).join(': '));
    return { ...this.resizer.resourcesOf(pod, container, record), conditions };
  }
}

function sized(cpu: string, memory: string, generation = 1, rest: Partial<Container> = {}): Pod {
  const resources: ResourceRequirements = { requests: { cpu, memory }, limits: { cpu: '4', memory } };
  return aPod({
    metadata: { uid: 'uid-of-web', generation },
    spec: { nodeName: 'node-1', containers: [aSpec({ resources, ...rest })] },
    status: { qosClass: 'Burstable' },
  });
}

function running(pod: Pod, over: Partial<ContainerRecord> = {}): ContainerRecord {
  return aContainer('main', { size: sizeOf(pod.spec?.containers[0]?.resources), ...over });
}

const json = (cpu: string, memory: string, generation: number, error?: string) =>
  JSON.stringify({
    containers: [{ name: 'main', resources: { requests: { cpu, memory }, limits: { cpu: '4', memory } } }],
    generation,
    ...(error === undefined ? {} : { error }),
  });

test('a pod that grows gets it at once: its cgroup, then its container, and both events', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  const wish = sized('2', '200Mi', 2);
  assert.equal(await world.sync(wish), wish);
  const { memoryLimitBytes, cpuShares } = world.host.settings(cgroup) ?? {};
  assert.deepEqual([memoryLimitBytes, cpuShares], [200 << 20, 2048]);
  assert.deepEqual(world.updates, [`main-0 memory=${200 << 20} quota=400000 shares=1024`, `main-0 memory=${200 << 20} quota=400000 shares=2048`]);
  assert.deepEqual(world.told, [
    `Normal ResizeStarted Pod resize started: ${json('2', '200Mi', 2)}`,
    `Normal ResizeCompleted Pod resize completed: ${json('2', '200Mi', 2)}`,
  ]);
  const resources = wish.spec?.containers[0]?.resources;
  assert.deepEqual(world.status(wish), { resources, allocatedResources: resources?.requests, conditions: [] });
  assert.equal(world.resizer.needsSync('uid-of-web'), false);
});

test('a wish that nobody has answered yet is told as under way, with what the pod has', async () => {
  const world = new World();
  const before = sized('1', '100Mi');
  await world.start(before);
  const wish = sized('2', '200Mi', 2);
  assert.deepEqual(world.resizer.conditionsOf(wish), [{ type: 'PodResizeInProgress', status: 'True', observedGeneration: 2 }]);
  const told = { phase: 'Running', resources: world.resizer.podResourcesOf(before, undefined).resources };
  const asked = world.sync(wish);
  assert.deepEqual(world.resizer.conditionsOf(wish), [{ type: 'PodResizeInProgress', status: 'True', observedGeneration: 2 }]);
  assert.deepEqual(world.resizer.podResourcesOf(wish, told), { resources: told.resources, allocatedResources: { cpu: '2', memory: '200Mi' } });
  await asked;
  assert.deepEqual(world.resizer.conditionsOf(wish), []);
  assert.deepEqual(world.resizer.podResourcesOf(wish, told).resources?.requests, { cpu: '2', memory: '200Mi' });
});

test('a runtime that sizes sandboxes is told before the kernel, without what is the sandbox’s own, and told back when the kernel refuses', async () => {
  const world = new World();
  world.knowsSandboxes = true;
  const withOverhead = (pod: Pod): Pod => ({ ...pod, ...(pod.spec ? { spec: { ...pod.spec, overhead: { memory: '10Mi' } } } : {}) });
  await world.start(withOverhead(sized('1', '100Mi')));
  await world.sync(withOverhead(sized('2', '200Mi', 2)));
  const id = world.state?.sandboxes[0]?.id;
  assert.deepEqual(world.sandboxUpdates.splice(0), [
    `${id} memory=${200 << 20} quota=400000 shares=1024`,
    `${id} memory=${200 << 20} quota=400000 shares=2048`,
  ]);
  const { ensure } = world.host;
  world.host.ensure = async () => {
    throw new CgroupSettingsRefused({ message: 'no' });
  };
  await world.sync(withOverhead(sized('2', '300Mi', 3)));
  world.host.ensure = ensure;
  assert.deepEqual(world.sandboxUpdates, [
    `${id} memory=${300 << 20} quota=400000 shares=2048`,
    `${id} memory=${200 << 20} quota=400000 shares=2048`,
  ]);
});

test('a pod for which there is no room keeps what it has and waits, until somebody leaves', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  const other = aPod({ metadata: { uid: 'other' }, spec: { containers: [aSpec({ resources: { requests: { cpu: '2' } } })] } });
  await world.room.admit(other, observedOf([]), signal);
  const wish = sized('3', '100Mi', 2);
  const kept = await world.sync(wish);
  assert.equal(kept.spec?.containers[0]?.resources?.requests?.cpu, '1');
  const message = "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000";
  assert.deepEqual(world.status(wish).conditions, [`PodResizePending: Deferred: ${message}`]);
  assert.equal(world.status(wish).allocatedResources?.cpu, '1');
  await world.sync(wish);
  assert.deepEqual(world.told, [`Warning ResizeDeferred Pod resize OutOfcpu: ${json('3', '100Mi', 2)}`], 'it is told once');
  world.room.release('other');
  assert.deepEqual([world.woken, world.resizer.needsSync('uid-of-web')], [['uid-of-web'], true]);
  assert.equal(await world.sync(wish), wish);
  assert.deepEqual(world.status(wish).conditions, []);
});

test('who waits for room is asked again every three minutes', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  await world.sync(sized('5', '100Mi', 2));
  await world.clock.advance(179_000);
  assert.deepEqual(world.woken, []);
  await world.clock.advance(1000);
  assert.deepEqual(world.woken, ['uid-of-web']);
  world.resizer.close();
});

test('a wish that is taken back waits no more', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  await world.sync(sized('5', '100Mi', 2));
  const back = sized('1', '100Mi', 3);
  assert.equal(await world.sync(back), back);
  assert.deepEqual(world.status(back).conditions, []);
  world.resizer.close();
});

test('a kubelet that comes back takes the wish for no deed: what was given before is known from the container and from the file', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  world.restart(); // while it was away somebody asked for too much
  const kept = await world.sync(sized('5', '100Mi', 2));
  assert.equal(kept.spec?.containers[0]?.resources?.requests?.cpu, '1');
  await world.sync(sized('2', '100Mi', 3));
  world.restart();
  const again = await world.sync(sized('5', '100Mi', 4));
  assert.equal(again.spec?.containers[0]?.resources?.requests?.cpu, '2');
  assert.deepEqual(world.status(again).resources?.requests?.cpu, '2', 'the container has what it was given after it was made');
  world.resizer.close();
});

test('a kubelet that was killed between room and cgroups finishes what it began, and tells nobody when nothing is left to do', async () => {
  const world = new World();
  const pod = sized('1', '100Mi');
  const wish = sized('2', '100Mi', 2);
  await world.start(pod);
  await world.room.admit(wish, world.state ?? observedOf([]), signal);
  world.restart();
  world.told.length = 0;
  await world.sync(wish);
  assert.equal(world.host.settings(cgroup)?.cpuShares, 2048);
  assert.deepEqual(world.told, [`Normal ResizeCompleted Pod resize completed: ${json('2', '100Mi', 2)}`]);
  world.restart();
  world.told.length = 0;
  await world.sync(wish);
  assert.deepEqual([world.told, world.resizer.needsSync('uid-of-web')], [[], false]);
});

test('memory is not taken from a pod that uses it: told as an error, and tried again', async () => {
  const world = new World();
  await world.start(sized('1', '100Mi'));
  world.usage = 80 << 20;
  const wish = sized('1', '50Mi', 2);
  await world.sync(wish);
  const text = `cannot decrease memory limits: attempting to set pod memory limit (${50 << 20}) below current usage (${80 << 20})`;
  assert.deepEqual(world.status(wish).conditions, [`PodResizeInProgress: Error: ${text}`]);
  assert.equal(world.told.at(-1), `Warning ResizeError Pod resize error: ${json('1', '50Mi', 2, text)}`);
  assert.deepEqual([world.updates, world.status(wish).resources?.limits?.memory], [[], '100Mi']);
  await world.clock.advance(10_000);
  assert.deepEqual(world.woken, ['uid-of-web']);
  world.usage = 1 << 20;
  await world.sync(wish);
  assert.deepEqual([world.host.settings(cgroup)?.memoryLimitBytes, world.status(wish).conditions], [50 << 20, []]);
});

test('while a pod shrinks it counts for others with what it has', async () => {
  const world = new World();
  await world.start(sized('3', '100Mi'));
  world.refusing = 'the runtime is away';
  const wish = sized('1', '100Mi', 2);
  await world.sync(wish);
  const other = aPod({ metadata: { uid: 'other' }, spec: { containers: [aSpec({ resources: { requests: { cpu: '2' } } })] } });
  assert.equal((await world.room.admit(other, observedOf([]), signal)).admitted, false);
  world.refusing = undefined;
  await world.sync(wish);
  assert.equal((await world.room.admit(other, observedOf([]), signal)).admitted, true);
});

test('a container that wants a restart for a resource is restarted, and its pod shrinks after that', async () => {
  const policy = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] };
  const world = new World();
  await world.start(sized('1', '100Mi', 1, policy));
  const wish = sized('1', '50Mi', 2, policy);
  const given = await world.sync(wish);
  const [kill] = computeActions(given, world.state ?? observedOf([]), () => undefined).kill;
  assert.equal(kill?.message, 'Container main resize requires restart');
  assert.deepEqual([world.updates, world.host.settings(cgroup)?.memoryLimitBytes, world.resizer.needsSync('uid-of-web')], [[], 100 << 20, true]);
  assert.deepEqual(world.status(wish).conditions, ['PodResizeInProgress']);
  world.state = observedOf([aSandbox()], [running(wish, { id: 'main-1', restartCount: 1 })]);
  await world.sync(wish);
  assert.deepEqual([world.host.settings(cgroup)?.memoryLimitBytes, world.resizer.needsSync('uid-of-web')], [50 << 20, false]);
  assert.deepEqual(computeActions(given, world.state, () => undefined).kill, []);
});

test('waiting pods are asked again by their priority', async () => {
  const world = new World();
  const pod = (uid: string, cpu: string, memory: string, priority: number, generation: number) =>
    aPod({ metadata: { uid, generation }, spec: { priority, containers: [aSpec({ resources: { requests: { cpu, memory } } })] } });
  for (const uid of ['low', 'high', 'full']) await world.room.admit(pod(uid, '1', '1Gi', 0, 1), observedOf([]), signal);
  await world.sync(sized('1', '1Gi'));
  await world.room.admit(pod('low', '2', '1Gi', 1, 2), observedOf([]), signal);
  await world.room.admit(pod('high', '2', '1Gi', 9, 2), observedOf([]), signal);
  world.room.release('full');
  assert.deepEqual(world.woken, ['high', 'low']);
  world.resizer.close();
});
