import type { ConfigMap, Secret } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { createMemoryMounter } from '#os/memory/mounter.ts';
import type { WakeKey } from '#startup/transition.ts';
import type { PodEvent } from '../../ports/events.ts';
import type { FilesPort } from '../../ports/files.ts';
import { HostFull } from '../../ports/host-errors.ts';
import type { MounterPort } from '../../ports/mounter.ts';
import type { ObjectRefKey, ObjectsPort } from '../../ports/objects.ts';
import type { TokensPort } from '../../ports/tokens.ts';
import { createVolumeManager, type VolumeManager } from '../volume-manager.ts';

/** API objects of a test. */
export class MemoryObjects implements ObjectsPort {
  readonly #objects = new Map<string, ConfigMap | Secret>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Thrown by the next reads. */
  failure: Error | undefined;

  put(object: ConfigMap | Secret): void {
    const ref = refOf(object);
    this.#objects.set(ref, object);
    this.#tell(ref);
  }

  remove(object: ConfigMap | Secret): void {
    this.#objects.delete(refOf(object));
    this.#tell(refOf(object));
  }

  get watched(): readonly string[] {
    return [...this.#listeners].filter(([, listeners]) => listeners.size > 0).map(([ref]) => ref);
  }

  async configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.#read(`configmap/${namespace}/${name}`);
  }

  async secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.#read(`secret/${namespace}/${name}`);
  }

  watch(ref: ObjectRefKey, changed: () => void): () => void {
    const listeners = this.#listeners.get(ref) ?? new Set();
    this.#listeners.set(ref, listeners.add(changed));
    return () => listeners.delete(changed);
  }

  #read(ref: string): ConfigMap | Secret | undefined {
    if (this.failure !== undefined) throw this.failure;
    return this.#objects.get(ref);
  }

  #tell(ref: string): void {
    for (const listener of this.#listeners.get(ref) ?? []) listener();
  }
}

export interface VolumeHost {
  readonly files: FilesPort;
  readonly mounter: MounterPort;
  readonly objects: MemoryObjects;
  readonly clock: FakeClock;
  readonly volumes: VolumeManager;
  readonly events: PodEvent[];
  readonly woken: WakeKey[];
  /** Content of a file, `undefined` when it is not there. */
  read(path: string): Promise<string | undefined>;
  /** Tokens that were asked for. */
  issued(): number;
  /** The kubelet again after a crash: the same node, nothing in memory. */
  restart(): VolumeManager;
}

/** Which call to the node, counted from 1, fails. Changed by the test as it goes. */
export interface Faults {
  failAt: number;
  calls: number;
}

export const ROOT = '/kubelet';
export const MEMORY = '/memory';

/** A volume manager on a pretended node; tokens are numbered and live for 1000 s. */
export async function aVolumeHost(
  ports: Partial<{ files: FilesPort; mounter: MounterPort; root: string; memory: string; faults: Faults }> = {},
): Promise<VolumeHost> {
  const { signal } = new AbortController();
  const tree = new MemoryTree();
  const { files = createMemoryFiles(tree), mounter = createMemoryMounter(tree), root = ROOT, memory = MEMORY } = ports;
  for (const path of [root, memory]) await files.ensureDirectory(path, 0o755, signal);
  const [objects, clock, events, woken] = [new MemoryObjects(), new FakeClock(), [] as PodEvent[], [] as WakeKey[]];
  let issued = 0;
  const tokens: TokensPort = {
    async token() {
      issued += 1;
      return { token: `token-${issued}`, refreshAtMs: clock.now() + 800_000 };
    },
    forget: () => undefined,
  };
  const start = () =>
    createVolumeManager({
      files: failing(files, ports.faults),
      mounter: failing(mounter, ports.faults),
      objects,
      tokens,
      clock,
      roots: { root, memory },
      logger: silentLogger,
      random: () => 0.25,
      allocatable: () => ({ cpu: '4', memory: '8Gi' }),
      events: { emit: (_pod, event) => events.push(event) },
      wake: { signal: (key) => woken.push(key) },
    });
  const read = async (path: string) => {
    const bytes = await files.read(path, signal);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  return { files, mounter, objects, clock, events, woken, read, volumes: start(), restart: start, issued: () => issued };
}

/** The port itself, but for the one call that fails as a full disk does. */
function failing<T extends object>(port: T, faults: Faults | undefined): T {
  if (faults === undefined) return port;
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) => {
        faults.calls += 1;
        if (faults.calls === faults.failAt) throw new HostFull({ message: `${String(name)}: ENOSPC`, errno: 'ENOSPC' });
        return Reflect.apply(member, target, args);
      };
    },
  });
}

function refOf(object: ConfigMap | Secret): ObjectRefKey {
  const { namespace, name } = object.metadata;
  return object.kind === 'Secret' ? `secret/${namespace}/${name}` : `configmap/${namespace}/${name}`;
}
