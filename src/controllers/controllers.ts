import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Client } from '#client/client.ts';
import { createEventRecorder, type EventRecorder } from '#client/event-recorder.ts';
import { createIndex } from '#client/indexer.ts';
import { createSharedInformers, type SharedInformers } from '#client/shared-informers.ts';
import { type ControllerContext, type ControllerTimings, defaultControllerTimings } from './context.ts';
import { runNamespaceController } from './namespace/controller.ts';
import { runNodeLifecycleController } from './node-lifecycle/controller.ts';
import { runPodGcController } from './pod-gc/controller.ts';
import { runRootCaController } from './root-ca/controller.ts';
import { runServiceAccountController } from './service-account/controller.ts';
import { runTaintEvictionController } from './taint-eviction/controller.ts';

export interface ControllersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What pods are to check the API server's certificate against. */
  readonly rootCaPem: string;
  readonly timings?: Partial<ControllerTimings> | undefined;
  /** Given where others in the process watch the same kinds too; their owner runs them. */
  readonly informers?: SharedInformers | undefined;
}

/** Runs every controller until the signal is aborted. What fails for one object is tried again and touches nothing else. */
export async function runControllers(client: Client, options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options;
  const informers = options.informers ?? createSharedInformers(client, { clock, logger });
  const recorder = (component: string) => createEventRecorder(client, { component, clock, logger });
  const recorders = { nodes: recorder('node-controller'), eviction: recorder('taint-eviction-controller') };
  const podsByNode = createIndex(informers.of(podKind), (pod) => pod.spec?.nodeName ?? '');
  const timings = { ...defaultControllerTimings, ...options.timings };
  const contextOf = (name: string, events: EventRecorder): ControllerContext => ({
    ...{ client, informers, podsByNode, events, clock, timings },
    logger: logger.child({ controller: name }),
  });
  const controllers: Readonly<Record<string, (inner: AbortSignal) => Promise<void>>> = {
    'service-account': (inner) => runServiceAccountController(contextOf('service-account', recorders.nodes), inner),
    'root-ca': (inner) => runRootCaController(contextOf('root-ca', recorders.nodes), options.rootCaPem, inner),
    namespace: (inner) => runNamespaceController(contextOf('namespace', recorders.nodes), inner),
    'node-lifecycle': (inner) => runNodeLifecycleController(contextOf('node-lifecycle', recorders.nodes), inner),
    'taint-eviction': (inner) => runTaintEvictionController(contextOf('taint-eviction', recorders.eviction), inner),
    'pod-gc': (inner) => runPodGcController(contextOf('pod-gc', recorders.nodes), inner),
  };
  const tasks = new TaskGroup((what, error) => logger.error('a controller ended', { controller: what, error: String(error) }));
  if (options.informers === undefined) tasks.run('informers', (inner) => informers.run(inner));
  for (const one of Object.values(recorders)) tasks.run('events', (inner) => one.run(inner));
  for (const [name, run] of Object.entries(controllers)) tasks.run(name, run);
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  podsByNode.close();
  await tasks.close();
}
