import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Client } from '#client/client.ts';
import { createEventRecorder, type EventRecorder } from '#client/event-recorder.ts';
import { createIndex } from '#client/indexer.ts';
import { createSharedInformers, type SharedInformers } from '#client/shared-informers.ts';
import { runCertificateApprovingController } from './certificate-approving/controller.ts';
import { runCertificateCleaner } from './certificate-cleaner/controller.ts';
import { type CertificateWish, runCertificateSigningController } from './certificate-signing/controller.ts';
import { runClusterRoleAggregationController } from './clusterrole-aggregation/controller.ts';
import { type ControllerContext, type ControllerTimings, defaultControllerTimings } from './context.ts';
import { runDisruptionController } from './disruption/controller.ts';
import { runGarbageCollector } from './garbage-collector/controller.ts';
import { runNamespaceController } from './namespace/controller.ts';
import { runNodeLifecycleController } from './node-lifecycle/controller.ts';
import { runPodGcController } from './pod-gc/controller.ts';
import { runRootCaController } from './root-ca/controller.ts';
import { runServiceAccountController } from './service-account/controller.ts';
import { runServiceAccountTokensController } from './service-account-tokens/controller.ts';
import type { SecretTokenClaims } from './service-account-tokens/plan.ts';
import { runServiceCidrController } from './service-cidr/controller.ts';
import { runTaintEvictionController } from './taint-eviction/controller.ts';
import { runClaimProtection, runVolumeProtection } from './volume-protection/controller.ts';

export interface ControllersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What pods are to check the API server's certificate against. */
  readonly rootCaPem: string;
  readonly timings?: Partial<ControllerTimings> | undefined;
  /** The cluster's keys. Absent: Secrets get no tokens, and requests for certificates none. */
  readonly signing?: ClusterSigning | undefined;
  /** Given where others in the process watch the same kinds too; their owner runs them. */
  readonly informers?: SharedInformers | undefined;
}

/** What only the holder of the cluster's keys can do. */
export interface ClusterSigning {
  /** A token without an end, for a Secret. */
  token(claims: SecretTokenClaims): Promise<string>;
  /** A certificate as PEM. @throws {InvalidInput} for a request that its own key did not sign */
  certificate(wish: CertificateWish): Promise<string>;
}

/** Whom a controller acts as: upstream's names of accounts, for each of which there is a role. */
export type ControllerAccount =
  | 'certificate-controller'
  | 'clusterrole-aggregation-controller'
  | 'disruption-controller'
  | 'generic-garbage-collector'
  | 'namespace-controller'
  | 'node-controller'
  | 'pod-garbage-collector'
  | 'pv-protection-controller'
  | 'pvc-protection-controller'
  | 'root-ca-cert-publisher'
  | 'service-account-controller'
  | 'service-cidrs-controller';

export interface ControllerClients {
  /** For what all controllers read together. */
  readonly reading: Client;
  /** For what a controller does. */
  as(account: ControllerAccount): Client;
}

/** Runs every controller until the signal is aborted. What fails for one object is tried again and touches nothing else. */
export async function runControllers(clients: ControllerClients, options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options;
  const informers = options.informers ?? createSharedInformers(clients.reading, { clock, logger });
  const recorder = (account: ControllerAccount, component: string) => createEventRecorder(clients.as(account), { component, clock, logger });
  const recorders = {
    nodes: recorder('node-controller', 'node-controller'),
    eviction: recorder('node-controller', 'taint-eviction-controller'),
    collector: recorder('generic-garbage-collector', 'garbage-collector-controller'),
    disruption: recorder('disruption-controller', 'controllermanager'),
  };
  const podsByNode = createIndex(informers.of(podKind), (pod) => pod.spec?.nodeName ?? '');
  const timings = { ...defaultControllerTimings, ...options.timings };
  const contextOf = (name: string, account: ControllerAccount, events: EventRecorder): ControllerContext => ({
    ...{ client: clients.as(account), informers, podsByNode, events, clock, timings },
    logger: logger.child({ controller: name }),
  });
  const { nodes, eviction, collector, disruption } = recorders;
  const controllers: Readonly<Record<string, (inner: AbortSignal) => Promise<void>>> = {
    'service-account': (inner) => runServiceAccountController(contextOf('service-account', 'service-account-controller', nodes), inner),
    'root-ca': (inner) => runRootCaController(contextOf('root-ca', 'root-ca-cert-publisher', nodes), options.rootCaPem, inner),
    namespace: (inner) => runNamespaceController(contextOf('namespace', 'namespace-controller', nodes), inner),
    'node-lifecycle': (inner) => runNodeLifecycleController(contextOf('node-lifecycle', 'node-controller', nodes), inner),
    'taint-eviction': (inner) => runTaintEvictionController(contextOf('taint-eviction', 'node-controller', eviction), inner),
    'garbage-collector': (inner) => runGarbageCollector(contextOf('garbage-collector', 'generic-garbage-collector', collector), inner),
    'pod-gc': (inner) => runPodGcController(contextOf('pod-gc', 'pod-garbage-collector', nodes), inner),
    disruption: (inner) => runDisruptionController(contextOf('disruption', 'disruption-controller', disruption), inner),
    'claim-protection': (inner) => runClaimProtection(contextOf('claim-protection', 'pvc-protection-controller', nodes), inner),
    'volume-protection': (inner) => runVolumeProtection(contextOf('volume-protection', 'pv-protection-controller', nodes), inner),
    'service-cidr': (inner) => runServiceCidrController(contextOf('service-cidr', 'service-cidrs-controller', nodes), inner),
    'clusterrole-aggregation': (inner) =>
      runClusterRoleAggregationController(contextOf('clusterrole-aggregation', 'clusterrole-aggregation-controller', nodes), inner),
  };
  const { signing } = options;
  const asItself = (name: string): ControllerContext => ({ ...contextOf(name, 'service-account-controller', nodes), client: clients.reading });
  const certificates = (name: string) => contextOf(name, 'certificate-controller', nodes);
  const decided: Readonly<Record<string, (inner: AbortSignal) => Promise<void>>> = {
    'certificate-approving': (inner) => runCertificateApprovingController(certificates('certificate-approving'), inner),
    'certificate-cleaner': (inner) => runCertificateCleaner(certificates('certificate-cleaner'), inner),
  };
  const signers: Readonly<Record<string, (inner: AbortSignal) => Promise<void>>> =
    signing === undefined
      ? {}
      : {
          'service-account-tokens': (inner) => {
            const tokens = { rootCaPem: options.rootCaPem, signToken: (claims: SecretTokenClaims) => signing.token(claims) };
            return runServiceAccountTokensController(asItself('service-account-tokens'), tokens, inner);
          },
          'certificate-signing': (inner) =>
            runCertificateSigningController(certificates('certificate-signing'), (wish) => signing.certificate(wish), inner),
        };
  const tasks = new TaskGroup((what, error) => logger.error('a controller ended', { controller: what, error: String(error) }));
  if (options.informers === undefined) tasks.run('informers', (inner) => informers.run(inner));
  for (const one of Object.values(recorders)) tasks.run('events', (inner) => one.run(inner));
  for (const [name, run] of Object.entries({ ...controllers, ...decided, ...signers })) tasks.run(name, run);
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  podsByNode.close();
  await tasks.close();
}
