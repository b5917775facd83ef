import type { Pod } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import { NamespaceMode, type UserNamespace } from '#wire/generated/cri.ts';
import { type KubeletRoots, podDirectory, podsDirectory } from '../paths.ts';
import type { FilesPort } from '../ports/files.ts';

/** A pod asks for users of its own and cannot have them here. */
export class NoUserNamespace extends AppError {
  readonly code = 'NO_USER_NAMESPACE';
  readonly retry = 'backoff';
}

/** What a runtime's handler can do. */
export interface HandlerFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface UserNamespacesDeps {
  readonly files: FilesPort;
  readonly roots: KubeletRoots;
  readonly idsPerPod: number;
  /** @returns `undefined` for a handler that the runtime does not name */
  readonly featuresOf: (handler: string) => HandlerFeatures | undefined;
}

export const usersOfNode: UserNamespace = { mode: NamespaceMode.NODE, uids: [], gids: [] };

const allIds = 2 ** 32;
const recordMode = 0o644;

/** Which range of the node's user ids each pod with users of its own has. The ranges are kept in the pods' folders, for the next kubelet. */
export class UserNamespaces {
  readonly #deps: UserNamespacesDeps;
  /** First id of the node by pod. */
  readonly #firstIds = new Map<string, number>();
  #loading: Promise<void> | undefined;

  constructor(deps: UserNamespacesDeps) {
    this.#deps = deps;
  }

  /**
   * The same for every sandbox and container of the pod. Its folder must be there.
   *
   * @throws {NoUserNamespace}
   */
  async of(pod: Pod, handlerOf: () => Promise<string>, signal: AbortSignal): Promise<UserNamespace> {
    if (pod.spec?.hostUsers !== false) return usersOfNode;
    this.#refuseUnlessSupported(await handlerOf());
    this.#loading ??= this.#load(signal);
    try {
      await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
    const { idsPerPod } = this.#deps;
    const mapping = { hostId: await this.#firstIdOf(pod.metadata.uid, signal), containerId: 0, length: idsPerPod };
    return { mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] };
  }

  release(podUid: string): void {
    this.#firstIds.delete(podUid);
  }

  #refuseUnlessSupported(handler: string): void {
    const features = this.#deps.featuresOf(handler);
    if (features?.userNamespaces === true) return;
    const who = handler === '' ? 'runtime does not support user namespaces' : `RuntimeClass handler "${handler}" does not support user namespaces`;
    const unknown = features === undefined && handler !== '' ? `: the handler "${handler}" is not known` : '';
    throw new NoUserNamespace({
      message: `can't set \`spec.hostUsers: false\`, ${who}${unknown}`,
      hint: 'use a newer container runtime, or take hostUsers out of the pod',
    });
  }

  async #firstIdOf(podUid: string, signal: AbortSignal): Promise<number> {
    const known = this.#firstIds.get(podUid);
    if (known !== undefined) return known;
    const { idsPerPod, files } = this.#deps;
    const taken = new Set(this.#firstIds.values());
    let firstId = idsPerPod; // the ids below are the node's own
    while (taken.has(firstId)) firstId += idsPerPod;
    if (firstId + idsPerPod > allIds) throw new NoUserNamespace({ message: 'no range of user ids is free for the pod' });
    this.#firstIds.set(podUid, firstId);
    const mappings = [{ hostId: firstId, containerId: 0, length: idsPerPod }];
    try {
      await files.write(this.#recordOf(podUid), JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), recordMode, signal);
    } catch (error) {
      this.#firstIds.delete(podUid);
      throw error;
    }
    return firstId;
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { files, roots } = this.#deps;
    for (const { name } of await files.list(podsDirectory(roots), signal)) {
      const bytes = await files.read(this.#recordOf(name), signal);
      const firstId = bytes === undefined ? undefined : firstIdIn(new TextDecoder().decode(bytes));
      if (firstId !== undefined) this.#firstIds.set(name, firstId);
    }
  }

  #recordOf(podUid: string): string {
    return `${podDirectory(this.#deps.roots, podUid)}/userns`;
  }
}

function firstIdIn(record: string): number | undefined {
  const found: unknown = JSON.parse(record);
  const mappings: unknown = typeof found === 'object' && found !== null && 'uidMappings' in found ? found.uidMappings : undefined;
  const [first]: readonly unknown[] = Array.isArray(mappings) ? mappings : [];
  return typeof first === 'object' && first !== null && 'hostId' in first && typeof first.hostId === 'number' ? first.hostId : undefined;
}
