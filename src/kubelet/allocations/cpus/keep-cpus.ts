import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { type Container, ContainerState, LinuxContainerResources } from '#wire/generated/cri.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { cpuList } from './cpu-list.ts';
import type { CpuState } from './cpu-state.ts';
import type { StaticCpus } from './static-cpus.ts';

export interface CpuKeeperDeps {
  readonly cpus: StaticCpus;
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'updateContainerResources'>;
  /** Pods that hold their room; others have nothing any more. */
  readonly holds: (podUid: string) => boolean;
  readonly save: (state: CpuState, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

/** Sees to it that running containers are where they should be: what they share changes when another pod gets CPUs for itself, or gives them back. */
export class CpuKeeper {
  readonly #deps: CpuKeeperDeps;
  /** What a container was last told, by its id. */
  #told = new Map<string, string>();
  #saved = '';

  constructor(deps: CpuKeeperDeps) {
    this.#deps = deps;
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const { cpus, runtime, holds, save } = this.#deps;
    for (const uid of cpus.holders) if (!holds(uid)) cpus.release(uid);
    const state = JSON.stringify(cpus.state);
    if (state !== this.#saved) await save(cpus.state, signal);
    this.#saved = state;
    const running = await runtime.listContainers({ state: { state: ContainerState.CONTAINER_RUNNING } }, signal);
    const told = new Map<string, string>();
    for (const container of running) {
      const list = await this.#tell(container, signal);
      if (list !== undefined) told.set(container.id, list);
    }
    this.#told = told;
  }

  async #tell({ id, labels }: Container, signal: AbortSignal): Promise<string | undefined> {
    const { cpus, runtime, logger } = this.#deps;
    const [uid, name] = [labels['io.kubernetes.pod.uid'], labels['io.kubernetes.container.name']];
    if (uid === undefined || name === undefined) return undefined;
    const list = cpuList(cpus.cpusOf(uid, name));
    if (this.#told.get(id) === list) return list;
    try {
      await runtime.updateContainerResources(id, LinuxContainerResources.fromPartial({ cpusetCpus: list }), signal);
      return list;
    } catch (error) {
      logger.warn('a container keeps CPUs that are not its own', { container: id, wanted: list, error: messageOf(error) });
      return undefined;
    }
  }
}
