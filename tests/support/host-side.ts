import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { audit } from '#cluster/audit/audit.ts';
import { down } from '#cluster/down/down.ts';
import type { ClusterHost } from '#cluster/ports/cluster-host.ts';
import { type UpResult, up } from '#cluster/up/up.ts';
import type { Program, UpOptions } from '#cluster/up-options.ts';
import { createClusterHost } from '#os/linux/host-cluster.ts';
import { type CriRuntime, createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { ContainerConfig, PodSandboxConfig } from '#wire/generated/cri.ts';

export const never = new AbortController().signal;
export const host: ClusterHost = createClusterHost(systemClock, silentLogger);

/** The host side of a cluster with a real supervisor and containerd, but without a control plane and kubelet. */
export interface HostSide {
  readonly name: string;
  readonly dataDir: string;
  readonly options: UpOptions;
  up(change?: Partial<UpOptions>): Promise<UpResult>;
  down(): Promise<void>;
  /** Objects that nobody owns, in words. */
  leftovers(): Promise<readonly string[]>;
  runtime(): CriRuntime;
}

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const fromSource = (path: string, ...loader: readonly string[]): Program => ({ program: process.execPath, args: [...loader, local(path)] });

/** Nothing is started yet. At the end of the file it is stopped, and nothing of it may be left on the host. */
export async function hostSide(): Promise<HostSide> {
  const name = `t-${randomBytes(4).toString('hex')}`;
  const parent = await mkdtemp(join(tmpdir(), 'kubernode-'));
  const dataDir = join(parent, 'data');
  const options: UpOptions = {
    name,
    dataDir,
    port: 0,
    programs: {
      supervisor: fromSource('../../src/bin/supervisor.ts', '--import', import.meta.resolve('tsx')),
      controlPlane: fromSource('stub-parts/control-plane.mjs'),
      kubelet: fromSource('stub-parts/kubelet.mjs'),
    },
  };
  const stop = async () => void (await down({ name, dataDir, purge: true }, host, () => undefined, never));
  const leftovers = async () => (await audit({ name, dataDir }, host, never)).leftovers.map(({ kind, object }) => `${kind} ${object}`);
  after(async () => {
    await stop();
    await rm(parent, { recursive: true, force: true });
    assert.deepEqual(await leftovers(), []);
  });
  return {
    name,
    dataDir,
    options,
    up: (change = {}) => up({ ...options, ...change }, host, () => undefined, never),
    down: async () => void (await down({ name, dataDir }, host, () => undefined, never)),
    leftovers,
    runtime: () => createCriRuntime({ endpoint: `unix:///run/kubernode/${name}/containerd.sock`, clock: systemClock, containerdEvents: 'auto' }),
  };
}

export function sandboxConfig(side: Pick<HostSide, 'name' | 'dataDir'>, pod: string, more: object = {}): PodSandboxConfig {
  return PodSandboxConfig.fromPartial({
    metadata: { name: pod, uid: pod, namespace: 'default', attempt: 0 },
    hostname: pod,
    logDirectory: `${side.dataDir}/pod-logs/${pod}`,
    linux: { cgroupParent: `/kubernode/${side.name}/pod${pod}`, securityContext: { namespaceOptions: {} } },
    ...more,
  });
}

export function containerConfig(name: string, command: readonly string[]): ContainerConfig {
  return ContainerConfig.fromPartial({
    metadata: { name, attempt: 0 },
    image: { image: 'docker.io/library/busybox:latest' },
    command: [...command],
    logPath: `${name}.log`,
    linux: {},
  });
}

/** A pod with one container, running. */
export async function runPod(
  side: HostSide,
  runtime: CriRuntime,
  pod: string,
  command: readonly string[],
): Promise<{ readonly sandbox: string; readonly container: string }> {
  const config = sandboxConfig(side, pod);
  const sandbox = await runtime.runPodSandbox(config, '', never);
  const container = await runtime.createContainer(sandbox, containerConfig('main', command), config, never);
  await runtime.startContainer(container, never);
  return { sandbox, container };
}
