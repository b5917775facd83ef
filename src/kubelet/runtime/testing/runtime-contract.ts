import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import { NameReserved } from '#wire/cri/errors.ts';
import { ContainerConfig, ContainerState, PodSandboxConfig, PodSandboxState } from '#wire/generated/cri.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { defaultFollowSettings, followRuntime } from '../follow-runtime.ts';
import { annotation, label } from '../labels.ts';
import { RuntimeCache } from '../runtime-cache.ts';

/** One runtime, real or pretended. */
export interface RuntimeUnderTest {
  readonly runtime: RuntimePort;
  readonly files: FilesPort;
  /** An image with a shell that it has. */
  readonly image: string;
  readonly cgroupParent: string;
  readonly logRoot: string;
  /** Lets the main process of a container end by itself with that code. */
  end(containerId: string, exitCode: number): Promise<void>;
}

const signal = AbortSignal.timeout(60_000);
/** Ends with the code that it finds in a file. */
const program = ['sh', '-c', 'while [ ! -e /end ]; do sleep 0.02; done; exit $(cat /end)'];
let pods = 0;

/** What the kubelet relies on in a container runtime. @param open is called once, in the first law */
export function runtimeContract(name: string, open: () => Promise<RuntimeUnderTest>): void {
  let opened: Promise<RuntimeUnderTest> | undefined;
  const subject = async () => {
    opened ??= open();
    return new Subject(await opened);
  };

  test(`${name}: a sandbox is ready with an address, found by its pod, and can be stopped and removed twice`, async () => {
    const pod = await subject();
    const { runtime } = pod;
    const id = await pod.sandbox();
    const status = await runtime.podSandboxStatus(id, signal);
    assert.deepEqual([status?.state, status?.metadata?.uid, status?.labels[label.podUid]], [PodSandboxState.SANDBOX_READY, pod.uid, pod.uid]);
    assert.match(status?.network?.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(
      (await runtime.listPodSandboxes(pod.filter, signal)).map((listed) => listed.id),
      [id],
    );
    for (const _ of [1, 2]) await runtime.stopPodSandbox(id, signal);
    assert.equal((await runtime.podSandboxStatus(id, signal))?.state, PodSandboxState.SANDBOX_NOTREADY);
    for (const _ of [1, 2]) await runtime.removePodSandbox(id, signal);
    assert.deepEqual([await runtime.podSandboxStatus(id, signal), await runtime.listPodSandboxes(pod.filter, signal)], [undefined, []]);
  });

  test(`${name}: a name is kept for one sandbox, the next attempt has another`, async () => {
    const pod = await subject();
    const id = await pod.sandbox();
    await assert.rejects(pod.runtime.runPodSandbox(pod.sandboxConfig(0), '', signal), NameReserved);
    const next = await pod.runtime.runPodSandbox(pod.sandboxConfig(1), '', signal);
    assert.notEqual(next, id);
    await pod.removeAll();
  });

  test(`${name}: a container is created, runs, and says with which code it ended`, async () => {
    const pod = await subject();
    const { runtime } = pod;
    await pod.sandbox();
    const id = await pod.create('main');
    assert.equal((await runtime.containerStatus(id, signal))?.state, ContainerState.CONTAINER_CREATED);
    await runtime.startContainer(id, signal);
    const running = await runtime.containerStatus(id, signal);
    assert.deepEqual([running?.state, (running?.startedAt ?? 0) > 0], [ContainerState.CONTAINER_RUNNING, true]);
    assert.deepEqual([running?.annotations[annotation.restartCount], running?.labels[label.containerName]], ['4', 'main']);
    await pod.end(id, 7);
    const ended = await pod.untilExited(id);
    assert.deepEqual([ended?.exitCode, ended?.reason, (ended?.finishedAt ?? 0) > 0], [7, 'Error', true]);
    await pod.removeAll();
  });

  test(`${name}: a start that was made cannot be made again`, async () => {
    const pod = await subject();
    await pod.sandbox();
    const id = await pod.start('main');
    await assert.rejects(pod.runtime.startContainer(id, signal), AppError);
    await pod.removeAll();
  });

  test(`${name}: when a stop returns, the status shows the end; stop and remove may be asked for twice`, async () => {
    const pod = await subject();
    const { runtime } = pod;
    await pod.sandbox();
    const id = await pod.start('main');
    await runtime.stopContainer(id, 0, signal);
    assert.equal((await runtime.containerStatus(id, signal))?.state, ContainerState.CONTAINER_EXITED);
    await runtime.stopContainer(id, 0, signal);
    for (const _ of [1, 2]) await runtime.removeContainer(id, signal);
    assert.deepEqual([await runtime.containerStatus(id, signal), await runtime.listContainers(pod.filter, signal)], [undefined, []]);
    await pod.removeAll();
  });

  test(`${name}: a command in a container answers with its exit code`, async () => {
    const pod = await subject();
    await pod.sandbox();
    const id = await pod.start('main');
    const codeOf = async (command: string) => (await pod.runtime.execSync(id, [command], 5, signal)).exitCode;
    assert.deepEqual([await codeOf('true'), await codeOf('false')], [0, 1]);
    await pod.removeAll();
  });

  test(`${name}: an image that is there has a status, one that is not has none`, async () => {
    const { runtime, image } = await subject();
    const spec = (name: string) => ({ image: name, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' });
    assert.notEqual((await runtime.imageStatus(spec(image), signal))?.id, undefined);
    assert.equal(await runtime.imageStatus(spec('example.invalid/none:1'), signal), undefined);
  });

  test(`${name}: exits of containers and sandboxes are seen by their events alone, however late the status shows them`, async () => {
    const pod = await subject();
    const { runtime, files } = pod;
    const cache = new RuntimeCache({ runtime, files, clock: systemClock });
    const following = new AbortController();
    const never = { ...defaultFollowSettings, relistMs: 1_000_000 };
    const running = followRuntime({ runtime, cache, clock: systemClock, logger: silentLogger, settings: never }, following.signal);
    await cache.synced(signal);
    await systemClock.sleep(300, signal); // the stream of events has begun
    const sandbox = await pod.sandbox();
    const id = await pod.start('main');
    await Promise.all([cache.refreshSandbox(sandbox, signal), cache.refreshContainer(id, signal)]);
    const changes = new Cell(0);
    cache.subscribe(() => changes.set(changes.get() + 1));
    const until = (seen: () => boolean) => waitFor(changes, seen, AbortSignal.any([signal, AbortSignal.timeout(5000)]));
    await pod.end(id, 0);
    await until(() => cache.get(pod.uid)?.containers[0]?.phase === 'exited');
    assert.equal(cache.get(pod.uid)?.containers[0]?.exitCode, 0);
    await runtime.stopPodSandbox(sandbox, signal);
    await until(() => cache.get(pod.uid)?.sandboxes[0]?.ready === false);
    await pod.removeAll();
    following.abort();
    await running;
  });
}

/** One pod's requests to the runtime. */
class Subject {
  readonly uid = `contract-${process.pid}-${pods++}`;
  readonly filter = { labelSelector: { [label.podUid]: this.uid } };
  readonly runtime: RuntimePort;
  readonly files: FilesPort;
  readonly image: string;
  readonly #under: RuntimeUnderTest;
  #sandboxId = '';

  constructor(under: RuntimeUnderTest) {
    this.#under = under;
    this.runtime = under.runtime;
    this.files = under.files;
    this.image = under.image;
  }

  sandboxConfig(attempt: number): PodSandboxConfig {
    return PodSandboxConfig.fromPartial({
      metadata: { name: this.uid, uid: this.uid, namespace: 'default', attempt },
      hostname: this.uid,
      logDirectory: `${this.#under.logRoot}/${this.uid}`,
      labels: this.#labels(),
      linux: { cgroupParent: `${this.#under.cgroupParent}/pod${this.uid}`, securityContext: { namespaceOptions: {} } },
    });
  }

  async sandbox(): Promise<string> {
    this.#sandboxId = await this.runtime.runPodSandbox(this.sandboxConfig(0), '', signal);
    return this.#sandboxId;
  }

  create(name: string): Promise<string> {
    const config = ContainerConfig.fromPartial({
      metadata: { name, attempt: 0 },
      image: { image: this.image },
      command: program,
      labels: { ...this.#labels(), [label.containerName]: name },
      annotations: { [annotation.restartCount]: '4' },
      logPath: `${name}.log`,
      linux: {},
    });
    return this.runtime.createContainer(this.#sandboxId, config, this.sandboxConfig(0), signal);
  }

  async start(name: string): Promise<string> {
    const id = await this.create(name);
    await this.runtime.startContainer(id, signal);
    return id;
  }

  end(containerId: string, exitCode: 0 | 7): Promise<void> {
    return this.#under.end(containerId, exitCode);
  }

  async untilExited(containerId: string) {
    for (;;) {
      const status = await this.runtime.containerStatus(containerId, signal);
      if (status?.state === ContainerState.CONTAINER_EXITED) return status;
      await systemClock.sleep(5, signal);
    }
  }

  async removeAll(): Promise<void> {
    for (const { id } of await this.runtime.listPodSandboxes(this.filter, signal)) {
      await this.runtime.stopPodSandbox(id, signal);
      await this.runtime.removePodSandbox(id, signal);
    }
    assert.deepEqual(await this.runtime.listContainers(this.filter, signal), []);
  }

  #labels(): Record<string, string> {
    return { [label.podUid]: this.uid, [label.podName]: this.uid, [label.podNamespace]: 'default' };
  }
}
