import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { HttpServer, ServerTls } from '#wire/http/server.ts';
import { flagTexts } from '../configuration/flag-texts.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { HostFacts } from '../ports/host.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { PodCgroupTree } from '../stats/pod-cgroup-index.ts';
import { statsPages } from '../stats/stats-pages.ts';
import type { StatsProvider } from '../stats/stats-provider.ts';
import { guardOf } from './access/guard.ts';
import { shownConfiguration } from './configz.ts';
import { type HealthCheck, syncLoopCheck, withHealthMetrics } from './health.ts';
import { createKubeletServer, createOpenServer } from './kubelet-server.ts';
import type { KubeletPages } from './pages.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { flagsPage, statusPage } from './zpages.ts';

export interface ServerParts {
  readonly tls: ServerTls;
  readonly cache: RuntimeCache;
  readonly stats: StatsProvider;
  readonly cgroups: { readonly names: PodCgroupTree };
  readonly hostFacts: HostFacts;
  readonly registry: Registry;
  /** Of what `/metrics/probes` shows. */
  readonly probeRegistry: Registry;
  /** When everything in the runtime was last looked at; undefined before the first time. */
  readonly lastRelistAtMs: () => number | undefined;
  /** More checks of health, by name. */
  readonly checks?: ReadonlyMap<string, HealthCheck>;
  readonly pods: () => readonly Pod[];
  /** Pages of ours, by path. */
  readonly more: ReadonlyMap<string, () => unknown>;
}

export interface KubeletServers {
  /** @returns the port of the one that asks who comes @throws {Unavailable} when a port is taken */
  listen(): Promise<number>;
  useTls(tls: ServerTls): void;
  /** Ends open streams. May be called twice. */
  close(): Promise<void>;
}

/** The kubelet's servers: the one for the API server, and those in plain HTTP that the configuration may ask for. */
export function createServers(config: KubeletConfig, host: KubeletHost, parts: ServerParts): KubeletServers {
  const { configuration, nodeName } = config;
  const { clock, logger, client } = host;
  const pages = pagesOf(config, host, parts);
  const requests = createRequestMetrics(parts.registry, () => clock.monotonic());
  const streamIdleMs = configuration.streamingConnectionIdleTimeout > 0 ? configuration.streamingConnectionIdleTimeout : undefined;
  const guard = guardOf(configuration, nodeName, client, clock, logger);
  const main = createKubeletServer({ ...pages, tls: parts.tls, guard, requests, streamIdleMs });
  const open: (readonly [HttpServer, { readonly host: string; readonly port: number }])[] = [];
  if (configuration.readOnlyPort > 0)
    open.push([createOpenServer(pages, isReadOnly, requests), { host: config.listenAddress, port: configuration.readOnlyPort }]);
  if (configuration.healthzPort > 0) {
    const server = createOpenServer(pages, (path) => path === '/healthz' || path === '/healthz/ping');
    open.push([server, { host: configuration.healthzBindAddress, port: configuration.healthzPort }]);
  }
  return {
    async listen() {
      await Promise.all(open.map(([server, address]) => server.listen(address)));
      if (!configuration.enableServer) return config.kubeletPort;
      return await main.listen({ host: config.listenAddress, port: config.kubeletPort });
    },
    useTls: (tls) => main.useTls(tls),
    async close() {
      await Promise.all([main, ...open.map(([server]) => server)].map((server) => server.close()));
    },
  };
}

function isReadOnly(path: string): boolean {
  return /^\/(healthz|pods|stats|metrics)(\/|$)/.test(path);
}

function pagesOf(config: KubeletConfig, host: KubeletHost, parts: ServerParts): KubeletPages {
  const { configuration, roots, version } = config;
  const { runtime, files, logFiles, clock, logger } = host;
  const { cache, stats, cgroups, hostFacts, registry, probeRegistry } = parts;
  const figures = statsPages(config, host, { stats, podCgroups: cgroups.names, hostFacts });
  const startedAtMs = clock.now();
  const slis = new Registry();
  const metrics = new Map([
    ...figures.metrics,
    ['/metrics', () => printed(registry)] as const,
    ['/metrics/slis', () => slis.metrics()] as const,
    ['/metrics/probes', () => probeRegistry.metrics()] as const,
  ]);
  return {
    runtime,
    logFiles,
    pods: parts.pods,
    runtimePods: () => cache.all(),
    onPodsChanged: (listener) => cache.subscribe(listener),
    health: withHealthMetrics(healthChecks(config, clock, parts), slis),
    metrics,
    summary: (onlyCompute, signal) => figures.summary(onlyCompute, signal),
    config: shownConfiguration(config),
    statusz: () => statusPage({ startedAtMs, nowMs: clock.now(), version, paths: [...metrics.keys(), ...otherPaths] }),
    flagz: () => flagsPage({ ...flagTexts(shownConfiguration(config)), ...config.flags }),
    checkpoints: { runtime, files, directory: `${roots.root}/checkpoints`, now: () => clock.now() },
    systemLogs: { directory: '/var/log', files, logFiles },
    serviceLogs: configuration.enableSystemLogQuery ? { directory: '/var/log', files, programs: host.pluginPrograms, clock } : undefined,
    more: parts.more,
    process: host.process,
    switches: {
      debugging: configuration.enableDebuggingHandlers,
      profiling: configuration.enableProfilingHandler,
      debugFlags: configuration.enableDebugFlagsHandler,
      systemLogs: configuration.enableSystemLogHandler,
    },
    clock,
    logger,
  };
}

const otherPaths = ['/configz', '/flagz', '/healthz', '/pods', '/runningpods', '/stats/summary', '/statusz'];

function healthChecks(
  { configuration, timings }: KubeletConfig,
  clock: Clock,
  { lastRelistAtMs, checks = new Map() }: ServerParts,
): ReadonlyMap<string, HealthCheck> {
  const periods = { syncMs: configuration.syncFrequency, relistMs: timings.follow.relistMs };
  return new Map<string, HealthCheck>([
    ['ping', () => undefined],
    ['log', () => undefined], // the loop that answers is the one that writes the log
    ['syncloop', syncLoopCheck(lastRelistAtMs, periods, clock)],
    ...checks,
  ]);
}

const withProcess = new WeakSet<Registry>();

/** Figures of the process are gathered from when somebody first looks. */
async function printed(registry: Registry): Promise<string> {
  if (!withProcess.has(registry)) {
    withProcess.add(registry);
    collectDefaultMetrics({ register: registry });
  }
  return await registry.metrics();
}
