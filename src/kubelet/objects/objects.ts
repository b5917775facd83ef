import type { KindRef } from '#api/kind.ts';
import { configMap } from '#api/kinds/core/v1/config-map.ts';
import { secret } from '#api/kinds/core/v1/secret.ts';
import type { KubeObject } from '#api/object.ts';
import type { ConfigMap, Secret } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded, InvalidInput, messageOf, Unavailable } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Client } from '#client/client.ts';
import type { ObjectRefKey, ObjectsPort } from '../ports/objects.ts';
import { FollowedObject } from './followed-object.ts';

export interface ObjectsDependencies {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long the first read of an object may take; upstream: 1 s. */
  readonly firstReadMs?: number;
  /** What nobody watched or read for so long is let go; upstream: 1 minute. */
  readonly idleMs?: number;
}

export interface FollowedObjects extends ObjectsPort, AsyncDisposable {}

/** Each object is followed by a list and watch of that one name: what a node may see, and one request until it is known. */
export function createObjects(dependencies: ObjectsDependencies): FollowedObjects {
  return new ObjectCache(dependencies);
}

class ObjectCache implements FollowedObjects {
  readonly #dependencies: ObjectsDependencies;
  readonly #tasks: TaskGroup;
  readonly #configMaps = new Map<string, FollowedObject<ConfigMap>>();
  readonly #secrets = new Map<string, FollowedObject<Secret>>();

  constructor(dependencies: ObjectsDependencies) {
    this.#dependencies = dependencies;
    this.#tasks = new TaskGroup((what, error) => dependencies.logger.error('following an object failed', { what, error: messageOf(error) }));
  }

  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap | undefined> {
    return this.#read(configMap, this.#configMaps, namespace, name, signal);
  }

  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined> {
    return this.#read(secret, this.#secrets, namespace, name, signal);
  }

  watch(ref: ObjectRefKey, changed: () => void): () => void {
    const [kind, namespace = '', name = ''] = ref.split('/');
    switch (kind) {
      case 'configmap':
        return this.#follow(configMap, this.#configMaps, namespace, name).listen(changed);
      case 'secret':
        return this.#follow(secret, this.#secrets, namespace, name).listen(changed);
      default:
        throw new InvalidInput({ message: `objects of kind ${kind} are not followed` });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const object of [...this.#configMaps.values(), ...this.#secrets.values()]) object.stop();
    await this.#tasks.close();
  }

  async #read<T extends KubeObject>(kind: KindRef<T>, known: Map<string, FollowedObject<T>>, namespace: string, name: string, signal: AbortSignal) {
    const followed = this.#follow(kind, known, namespace, name);
    followed.touch();
    if (followed.isKnown) return followed.get();
    const { clock, firstReadMs = 1000 } = this.#dependencies;
    try {
      return await withDeadline('first read', firstReadMs, clock, signal, (inner) => followed.read(inner));
    } catch (cause) {
      if (!(cause instanceof DeadlineExceeded)) throw cause;
      const message = `failed to sync ${kind.kind.toLowerCase()} cache: timed out waiting for the condition`;
      throw new Unavailable({ message, cause, hint: 'the API server does not answer, or the node may not read this object' });
    }
  }

  #follow<T extends KubeObject>(kind: KindRef<T>, known: Map<string, FollowedObject<T>>, namespace: string, name: string): FollowedObject<T> {
    const key = `${namespace}/${name}`;
    const present = known.get(key);
    if (present !== undefined) return present;
    const { client, clock, logger, idleMs = 60_000 } = this.#dependencies;
    const followed = new FollowedObject(client, kind, { namespace, name }, { clock, logger, idleMs, onIdle: () => known.delete(key) });
    known.set(key, followed);
    this.#tasks.run(`${kind.plural} ${key}`, (signal) => followed.run(signal));
    return followed;
  }
}
