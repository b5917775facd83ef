import { service } from '#api/kinds/core/v1/service.ts';
import { runtimeClass } from '#api/kinds/node/v1/runtime-class.ts';
import type { Pod, Service } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded, messageOf, NotFound, Unavailable } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import { createInformer } from '#client/informer.ts';
import type { Informer } from '#client/informer-port.ts';
import { isStatic } from '../resources/critical.ts';

export interface ClusterObjectsDependencies {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Objects of the cluster that any pod may need: all are followed from the start, so that no start of a pod asks for one. */
export interface ClusterObjects extends AsyncDisposable {
  /** @throws {Unavailable} when they were never read; a pod of the node's own is started all the same */
  services(pod: Pod, signal: AbortSignal): Promise<readonly Service[]>;
  /** @returns '' for a pod without a class. @throws {NotFound} */
  runtimeHandler(pod: Pod, signal: AbortSignal): Promise<string>;
}

/** How long the first containers after the start of the kubelet wait for the Services. */
const firstReadMs = 1000;

export function followClusterObjects({ client, clock, logger }: ClusterObjectsDependencies): ClusterObjects {
  const tasks = new TaskGroup((what, error) => logger.error('following objects of the cluster failed', { what, error: messageOf(error) }));
  const services = createInformer(client, service, { keep: whatVariablesTell }, { clock, logger });
  const classes = createInformer(client, runtimeClass, {}, { clock, logger });
  tasks.run('services', (signal) => services.run(signal));
  tasks.run('runtime classes', (signal) => classes.run(signal));
  return {
    async services(pod, signal) {
      if (!services.hasSynced && !isStatic(pod)) await firstRead(services, clock, signal);
      return services.list();
    },
    async runtimeHandler({ spec }, signal) {
      const name = spec?.runtimeClassName ?? '';
      if (name === '') return '';
      // A class that was made just before its pod may not be here yet.
      return (classes.get(name) ?? (await ask(() => client.get(runtimeClass, { name }, signal), name))).handler;
    },
    [Symbol.asyncDispose]: () => tasks.close(),
  };
}

function whatVariablesTell({ apiVersion, kind, metadata, spec }: Service): Service {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { clusterIP: spec?.clusterIP, ports: spec?.ports },
  };
}

async function firstRead(services: Informer<Service>, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await withDeadline('services', firstReadMs, clock, signal, (inner) => services.synced(inner));
  } catch (cause) {
    if (!(cause instanceof DeadlineExceeded)) throw cause;
    const message = 'services have not yet been read at least once, cannot construct envvars';
    throw new Unavailable({ message, cause, hint: 'the API server does not answer, or the node may not list services' });
  }
}

async function ask<T>(get: () => Promise<T>, name: string): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (isNotFound(error))
      throw new NotFound({ message: `RuntimeClass.node.k8s.io "${name}" not found`, hint: 'create the RuntimeClass', cause: error });
    throw new Unavailable({ message: `failed to lookup RuntimeClass ${name}: ${messageOf(error)}`, cause: error });
  }
}
