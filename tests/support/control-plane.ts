import type { TestContext } from 'node:test';
import type { KindRef } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import type { KubeObject } from '#api/object.ts';
import { createApiServer } from '#apiserver/api-server.ts';
import { serviceAccountGroups, serviceAccountUserName } from '#apiserver/request/user.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { createSharedInformers } from '#client/shared-informers.ts';
import type { ControllerTimings } from '#controllers/context.ts';
import { type ControllerClients, runControllers } from '#controllers/controllers.ts';
import { createServiceAccountKey } from '#pki/service-account-key.ts';
import { runScheduler, type SchedulingStep } from '#scheduler/scheduler.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';

export interface ControlPlane {
  /** May do everything. */
  readonly admin: Client;
}

export interface ControlPlaneOptions {
  readonly timings?: Partial<ControllerTimings>;
  readonly observe?: (step: SchedulingStep) => void;
}

/** The real API server on a store in memory, with scheduler and controllers, each under its own user; ends with the test. */
export async function startControlPlane(t: TestContext, options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const dependencies = { clock: systemClock, logger: silentLogger };
  const storage = createMemoryStorage(systemClock);
  const serviceAccountKeys = createServiceAccountKey();
  const server = await createApiServer({
    ...dependencies,
    storage,
    kinds,
    serviceAccountKeys,
    serviceAccountIssuer: 'https://kubernetes.default.svc',
  });
  const clientAs = (name: string, groups: readonly string[] = []) => createClient(server.transportAs({ name, groups }));
  const stop = new AbortController();
  const forControllers: ControllerClients = {
    reading: clientAs('system:kube-controller-manager'),
    as: (account) => clientAs(serviceAccountUserName('kube-system', account), serviceAccountGroups('kube-system')),
  };
  const forScheduler = clientAs('system:kube-scheduler');
  const informers = createSharedInformers(forControllers.reading, dependencies);
  const running = [
    informers.run(stop.signal),
    runControllers(forControllers, { ...dependencies, informers, rootCaPem: 'THE CA', timings: options.timings }, stop.signal),
    runScheduler(forScheduler, { ...dependencies, observe: options.observe }, stop.signal),
  ];
  t.after(async () => {
    stop.abort();
    await Promise.all(running);
    await server.close();
    await storage.close();
  });
  return { admin: clientAs('admin', ['system:masters']) };
}

/** The first state of an object that passes `accept`; the test's own time limit ends the wait. */
export async function eventually<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  ref: { readonly namespace?: string; readonly name: string },
  accept: (object: T | undefined) => boolean,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (;;) {
    const { items } = await client.list(kind, { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` }, signal);
    if (accept(items[0])) return items[0];
    await systemClock.sleep(5, signal);
  }
}
