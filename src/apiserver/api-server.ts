import { randomInt, randomUUID } from 'node:crypto';
import type { Kind } from '#api/kind.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { Transport } from '#client/transport.ts';
import type { Storage } from '#store/storage.ts';
import { Admission } from './admission/admission.ts';
import { certificateSubjectRestriction, createCertificateApproval, createCertificateSigning } from './admission/certificate-permissions.ts';
import { createCertificateSigningRequestFacts } from './admission/certificate-signing-request.ts';
import { createDefaultIngressClass } from './admission/default-ingress-class.ts';
import { createDefaultStorageClass } from './admission/default-storage-class.ts';
import { defaultTolerationSeconds } from './admission/default-toleration-seconds.ts';
import { createNamespaceLifecycle } from './admission/namespace-lifecycle.ts';
import { createNodeRestriction } from './admission/node-restriction/node-restriction.ts';
import { createPersistentVolumeClaimResize } from './admission/persistent-volume-claim-resize.ts';
import { createPersistentVolumePhaseTime } from './admission/persistent-volume-phase-time.ts';
import { createPriorityAdmission } from './admission/priority.ts';
import { createRuntimeClassAdmission } from './admission/runtime-class.ts';
import { createServiceAccountAdmission } from './admission/service-account.ts';
import { storageObjectInUseProtection } from './admission/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './admission/taint-nodes-by-condition.ts';
import { createAuthentication } from './authentication/authentication.ts';
import { createAuthorization } from './authorization/authorization.ts';
import { createNodeAuthorizer } from './authorization/node/node-authorizer.ts';
import { publishAuthentication } from './bootstrap/authentication-config.ts';
import { createBootstrapObjects } from './bootstrap/bootstrap-objects.ts';
import { resourceOfKind, resourceOfRoute } from './discovery/api-resource.ts';
import { discoveryEndpoints } from './discovery/discovery-endpoints.ts';
import { DiscoveryDocuments } from './discovery/documents.ts';
import { healthEndpoints } from './discovery/health-endpoints.ts';
import { kubernetesVersion } from './discovery/version.ts';
import { createHttpsEntrance, type TlsSettings } from './https-entrance.ts';
import { createInProcessTransport } from './in-process/in-process-transport.ts';
import { ServiceNetwork, type ServiceNetworkOptions } from './kubernetes-service/service-network.ts';
import { runCompaction } from './maintenance/compaction.ts';
import { metricsEndpoint } from './metrics/metrics-endpoint.ts';
import { registryMetrics } from './metrics/registry-metrics.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { describedRoute, OpenApiDocuments } from './openapi/openapi-documents.ts';
import { openApiEndpoints } from './openapi/openapi-endpoints.ts';
import { ExpiringLeases } from './registry/expiring-leases.ts';
import { createObjectReader } from './registry/object-reader.ts';
import { defaultHistoryMs, Registry } from './registry/registry.ts';
import type { ServerContext } from './request/context.ts';
import { KindRoutes } from './request/kind-routes.ts';
import { Pipeline } from './request/pipeline.ts';
import type { Route, RouteFactory } from './request/route.ts';
import { authenticated, type User } from './request/user.ts';
import { accessReviews } from './reviews/access-reviews.ts';
import { identityReviews } from './reviews/identity-reviews.ts';
import { reviewRoute } from './reviews/review-route.ts';
import { issuerEndpoints } from './service-account-tokens/issuer-endpoints.ts';
import { type ServiceAccountKeys, TokenSigner } from './service-account-tokens/token-signer.ts';

export interface ApiServerOptions extends ServiceNetworkOptions {
  /** Stays open when the server closes: it belongs to the caller. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kinds: readonly Kind[];
  /** PEMs. Without them the server is reached in process only. */
  readonly tls?: TlsSettings | undefined;
  readonly serviceAccountKeys: ServiceAccountKeys;
  /** URL; also the audience of tokens for this server. */
  readonly serviceAccountIssuer: string;
  /** Tokens that are asked for a longer time are shortened, with a warning. Default: no limit. */
  readonly serviceAccountMaxTokenSeconds?: number | undefined;
  /** For tests and for operators who have them. */
  readonly staticTokens?: ReadonlyMap<string, Pick<User, 'name'> & Partial<User>> | undefined;
  /** Endpoints of other parts: streaming subresources, the start-up record. */
  readonly extraRoutes?: readonly RouteFactory[] | undefined;
  /** How long the store keeps its history, at least. Default: upstream's five minutes. */
  readonly compactEveryMs?: number | undefined;
}

export interface ApiServer {
  /** @param address.port 0: any free one @returns the port that was taken @throws {Unavailable} */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Requests of this user without a socket; they are authorized and admitted like all others. */
  transportAs(user: Pick<User, 'name'> & Partial<User>): Transport;
  /** Ends watches and connections, then what runs inside. May be called twice. */
  close(): Promise<void>;
}

/** A server that has read its store and has the objects that every cluster has; it answers in process at once, outside after `listen`. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { storage, clock, logger, kinds } = options;
  const tasks = new TaskGroup((what, error) => logger.error('a part of the API server failed', { what, error }));
  const { compactEveryMs = defaultHistoryMs } = options;
  const registry = new Registry(storage, kinds, clock, logger, compactEveryMs);
  const services = new ServiceNetwork({ registry, objects: createObjectReader(registry), clock, logger, newUid: randomUUID }, options);
  const context = createContext(options, registry, services);
  tasks.run('registry', (signal) => registry.run(signal));
  tasks.run('compaction', (signal) => runCompaction(storage, compactEveryMs, clock, logger, signal));
  try {
    await registry.upToDate(tasks.signal);
    await Promise.all([createBootstrapObjects(context, kinds, tasks.signal), services.prepare(context, tasks.signal)]);
  } catch (error) {
    await tasks.close();
    throw error;
  }
  const pipeline = createPipeline(options, context);
  const entrance = options.tls === undefined ? undefined : createHttpsEntrance(options.tls, pipeline, clock, logger);
  return {
    listen: async (address) => {
      if (entrance === undefined) throw new Error('the server has no certificate to listen with');
      const port = await entrance.listen(address);
      tasks.run('kubernetes service', (signal) => services.keep(context, { host: address.host, port }, signal));
      const { tls } = options;
      if (tls !== undefined) tasks.run('authentication for other servers', (signal) => publishAuthentication(context, tls, signal));
      return port;
    },
    transportAs: (user) => createInProcessTransport(pipeline, authenticated(user), tasks.signal),
    close: async () => {
      await entrance?.close();
      await tasks.close();
    },
  };
}

function createContext(options: ApiServerOptions, registry: Registry, services: ServiceNetwork): ServerContext {
  const { storage, clock, logger } = options;
  const objects = createObjectReader(registry);
  const { authorizer, escalationCheck } = createAuthorization(registry, [createNodeAuthorizer(registry, options.kinds)]);
  const admission = new Admission([
    createNamespaceLifecycle(objects),
    createServiceAccountAdmission({ objects, clock, newSuffix }),
    createNodeRestriction({ objects, kinds: options.kinds, authorizer }),
    taintNodesByCondition,
    createPriorityAdmission(objects),
    defaultTolerationSeconds,
    createDefaultStorageClass(objects),
    storageObjectInUseProtection,
    createPersistentVolumePhaseTime(clock),
    createPersistentVolumeClaimResize(objects),
    createRuntimeClassAdmission(objects),
    createCertificateSigningRequestFacts(clock),
    createCertificateApproval(authorizer),
    createCertificateSigning(authorizer),
    certificateSubjectRestriction,
    createDefaultIngressClass(objects),
    escalationCheck,
  ]);
  return {
    registry,
    leases: new ExpiringLeases(storage, clock),
    objects,
    admission,
    authorizer,
    reservations: [services.reservations],
    tokens: new TokenSigner(options.serviceAccountKeys, options.serviceAccountIssuer, clock, options.serviceAccountMaxTokenSeconds),
    clock,
    logger,
    newUid: randomUUID,
    newSuffix,
  };
}

function createPipeline(options: ApiServerOptions, context: ServerContext): Pipeline {
  const { kinds } = options;
  const frontProxyNames = options.tls?.proxyCa === undefined ? undefined : (options.tls.proxyNames ?? []);
  const authentication = createAuthentication(context, { staticTokens: options.staticTokens ?? new Map(), frontProxyNames });
  const reviews = [...accessReviews, ...identityReviews(authentication.tokens)].map((review) => reviewRoute(review, context));
  const others = (options.extraRoutes ?? []).flatMap((factory) => factory(context));
  const routes: readonly Route[] = [...others, ...reviews];
  const shown = routes.flatMap(({ discovery }) => discovery ?? []);
  const discovery = once(() => new DiscoveryDocuments([...kinds.map(resourceOfKind), ...shown.map(resourceOfRoute)]));
  const openApi = once(() => new OpenApiDocuments([...kinds, ...shown.flatMap(describedRoute)], kubernetesVersion.gitVersion));
  const metrics = new RequestMetrics();
  return new Pipeline({
    context,
    ways: authentication.ways,
    kinds: new KindRoutes(kinds),
    routes,
    metrics,
    paths: [
      ...discoveryEndpoints(discovery),
      ...openApiEndpoints(openApi, () => context.clock.now()),
      ...healthEndpoints(
        [
          { name: 'ping', isHealthy: () => true },
          { name: 'etcd', isHealthy: () => context.registry.isFollowing }, // monitoring asks for the store by this name
        ],
        [{ name: 'informer-sync', isHealthy: () => context.registry.revision > 0 }],
      ),
      metricsEndpoint(() => [...metrics.families, ...registryMetrics(context.registry)]),
      ...issuerEndpoints(context.tokens),
    ],
  });
}

/** What is not asked for is not made. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Without vowels and without what looks like another character. */
const suffixCharacters = 'bcdfghjklmnpqrstvwxz2456789';

function newSuffix(): string {
  return Array.from({ length: 5 }, () => suffixCharacters[randomInt(suffixCharacters.length)]).join('');
}
