import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { onAbort } from '#base/abort.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Client } from './client.ts';
import { createInformer, type InformerDependencies } from './informer.ts';
import type { Informer } from './informer-port.ts';

/** One informer a kind, of all namespaces, for all who want one in a process. */
export interface SharedInformers {
  /** The kind's informer; listed from now on if it is the first wish for it. */
  of<T extends KubeObject>(kind: KindRef<T>): Informer<T>;
  /** The kind's informer, if somebody wished for it. */
  present<T extends KubeObject>(kind: KindRef<T>): Informer<T> | undefined;
  /** Runs the informers, those that are wished for later too, until the signal is aborted. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

const nameOf = ({ plural, group, version }: KindRef) => `${plural}.${group}/${version}`;

export function createSharedInformers(client: Client, dependencies: InformerDependencies): SharedInformers {
  const informers = new Map<string, Informer<KubeObject>>();
  const tasks = new TaskGroup((what, error) => dependencies.logger.error('an informer ended', { what, error: String(error) }));
  let isRunning = false;
  const start = (name: string, informer: Informer<KubeObject>) => tasks.run(name, (signal) => informer.run(signal));
  // What stands under a kind's name was made for this very kind.
  const find = <T extends KubeObject>(kind: KindRef<T>) => informers.get(nameOf(kind)) as unknown as Informer<T> | undefined;
  return {
    present: find,
    of<T extends KubeObject>(kind: KindRef<T>): Informer<T> {
      const name = nameOf(kind);
      const present = find(kind);
      if (present !== undefined) return present;
      const informer = createInformer(client, kind, {}, dependencies);
      informers.set(name, informer as unknown as Informer<KubeObject>);
      if (isRunning) start(name, informer as unknown as Informer<KubeObject>);
      return informer;
    },
    async run(signal) {
      isRunning = true;
      for (const [name, informer] of informers) start(name, informer);
      await new Promise<void>((resolve) => onAbort(signal, resolve));
      await tasks.close();
    },
  };
}
