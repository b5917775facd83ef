import { setMaxListeners } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { pod } from '#api/kinds/core/v1/pod.ts';
import { kinds } from '#api/kinds/index.ts';
import { type ApiServer, createApiServer } from '#apiserver/api-server.ts';
import { serviceAccountGroups, serviceAccountUserName, type User } from '#apiserver/request/user.ts';
import { podStartupsRoute } from '#apiserver/routes/pod-startups.ts';
import { streamingRoutes } from '#apiserver/subresources/streaming-routes.ts';
import { systemClock } from '#base/clock.ts';
import { AppError, InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import { createClient } from '#client/api-client.ts';
import { createSharedInformers } from '#client/shared-informers.ts';
import { type ClusterPaths, clusterPaths } from '#cluster/cluster-paths.ts';
import { pkiFiles } from '#cluster/pki-files.ts';
import { type ClusterSettings, parseSettings } from '#cluster/settings.ts';
import { type ClusterSigning, type ControllerClients, runControllers } from '#controllers/controllers.ts';
import { runScheduler } from '#scheduler/scheduler.ts';
import { StartupRecords } from '#startup/records.ts';
import { openSqliteStorage } from '#store/sqlite/sqlite-storage.ts';
import type { Storage } from '#store/storage.ts';
import { createClusterSigning } from './assembly/cluster-signing.ts';
import { partLogger } from './assembly/part-logger.ts';

// The control plane of one cluster in one process: store, API server, scheduler, controllers. Prints `{"ready":true}` when it serves.

/** Issuer and audience of service-account tokens; upstream's tools use the same. */
const serviceAccountIssuer = 'https://kubernetes.default.svc.';

/** A hung store must not hold the scheduler's or a controller's workers for ever. */
const requestWithinMs = 30_000;

/** Start-up records kept in memory, a few kilobytes each. */
const keptStartups = 1000;

interface Identity {
  readonly caPem: string;
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string };
  readonly kubelet: { readonly caPem: string; readonly certPem: string; readonly keyPem: string };
  readonly serviceAccountKeys: { readonly privateKeyPem: string; readonly publicKeyPem: string };
}

async function main(logger: Logger): Promise<void> {
  const { settingsFile, runDir } = readFlags();
  const settings = parseSettings(await readFile(settingsFile, 'utf8'), settingsFile);
  const paths = clusterPaths(runDir, settings.dataDir);
  const [identity, storage] = await Promise.all([readIdentity(paths), openStore(settings, paths, logger)]);
  const startups = new StartupRecords(keptStartups, systemClock.now());
  const server = await createApiServer({
    storage,
    clock: systemClock,
    logger: logger.child({ part: 'apiserver' }),
    kinds,
    tls: identity.tls,
    serviceAccountKeys: identity.serviceAccountKeys,
    serviceAccountIssuer: serviceAccountIssuer + settings.clusterDomain,
    serviceCIDRs: [settings.serviceCIDR],
    advertisedAddress: settings.nodeAddress,
    compactEveryMs: settings.timings['storeCompactionMs'],
    extraRoutes: [streamingRoutes({ tls: identity.kubelet }), () => [podStartupsRoute(startups)]],
  });
  const tasks = new TaskGroup((what, error) => {
    logger.error('a part of the control plane failed', { what, error: messageOf(error) });
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM'); // half a control plane is worse than none: the supervisor starts it anew
  });
  const issuer = { serviceAccountKeys: identity.serviceAccountKeys, serviceAccountIssuer: serviceAccountIssuer + settings.clusterDomain };
  const readCaKey = () => readFile(pkiFiles(paths).caKey, 'utf8');
  const signing = createClusterSigning({ caPem: identity.caPem, readCaKey, ...issuer }, systemClock);
  startLoops(server, tasks, { settings, rootCaPem: identity.caPem, logger, startups, signing });
  await server.listen({ host: settings.apiAddress, port: settings.apiPort });
  process.stdout.write('{"ready":true}\n');
  await untilToldToEnd();
  await tasks.close();
  await server.close();
  await storage.close();
}

interface LoopOptions {
  readonly settings: ClusterSettings;
  readonly rootCaPem: string;
  readonly logger: Logger;
  readonly startups: StartupRecords;
  readonly signing: ClusterSigning;
}

/** Scheduler and controllers see the cluster through one set of informers: each event is read once in this process. */
function startLoops(server: ApiServer, tasks: TaskGroup, { settings, rootCaPem, logger, startups, signing }: LoopOptions): void {
  // The agent names who owns the fields that a part writes, as upstream's parts do.
  const clientAs = (user: Pick<User, 'name'> & Partial<User>, userAgent: string) =>
    createClient(server.transportAs(user), { userAgent, deadline: { ms: requestWithinMs, clock: systemClock } });
  const manager = 'kube-controller-manager';
  const controlling: ControllerClients = {
    reading: clientAs({ name: 'system:kube-controller-manager' }, manager),
    as: (account) => clientAs({ name: serviceAccountUserName('kube-system', account), groups: serviceAccountGroups('kube-system') }, manager),
  };
  const options = (part: string) => ({ clock: systemClock, logger: logger.child({ part }) });
  const informers = createSharedInformers(controlling.reading, options('informers'));
  const { timings } = settings;
  tasks.run('scheduler', (signal) =>
    runScheduler(clientAs({ name: 'system:kube-scheduler' }, 'kube-scheduler'), { ...options('scheduler'), informers, timings }, signal),
  );
  tasks.run('controllers', (signal) => runControllers(controlling, { ...options('controllers'), informers, timings, rootCaPem, signing }, signal));
  // In process an informer tells of a change within the turn of the loop in which a client can see it.
  informers.of(pod).subscribe((change) => {
    if (change.type !== 'deleted') startups.seePod(change.object, systemClock.now());
  });
  tasks.run('informers', (signal) => informers.run(signal));
}

function readFlags(): { readonly settingsFile: string; readonly runDir: string } {
  const { values } = parseArgs({ options: { settings: { type: 'string' }, 'run-dir': { type: 'string' } } });
  const { settings: settingsFile, 'run-dir': runDir } = values;
  if (settingsFile === undefined || runDir === undefined) {
    throw new InvalidInput({ message: '--settings and --run-dir are missing', hint: 'usage: control-plane --settings FILE --run-dir DIR' });
  }
  return { settingsFile, runDir };
}

async function readIdentity(paths: ClusterPaths): Promise<Identity> {
  const files = pkiFiles(paths);
  const read = (file: string) => readFile(file, 'utf8');
  const [caPem, cert, key, kubeletCert, kubeletKey, privateKeyPem, publicKeyPem] = await Promise.all([
    read(files.caCert),
    read(files.cert('apiserver')),
    read(files.key('apiserver')),
    read(files.cert('apiserver-kubelet-client')),
    read(files.key('apiserver-kubelet-client')),
    read(files.serviceAccountKey),
    read(files.serviceAccountPublicKey),
  ]);
  return {
    caPem,
    tls: { cert, key, clientCa: caPem },
    kubelet: { caPem, certPem: kubeletCert, keyPem: kubeletKey },
    serviceAccountKeys: { privateKeyPem, publicKeyPem },
  };
}

async function openStore(settings: ClusterSettings, paths: ClusterPaths, logger: Logger): Promise<Storage> {
  if (settings.store.kind === 'etcd') throw new InvalidInput({ message: 'this version has no store on etcd', hint: 'use --store sqlite' });
  await mkdir(dirname(paths.storeFile), { recursive: true, mode: 0o700 });
  return openSqliteStorage({ file: paths.storeFile, clock: systemClock, logger: logger.child({ part: 'store' }) });
}

function untilToldToEnd(): Promise<void> {
  // A signal for the whole group of a terminal is not meant for a part: the supervisor ends it.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
  });
}

setMaxListeners(0); // one signal ends thousands of requests: no leak
const logger = partLogger({ process: 'control-plane' });
try {
  await main(logger);
  process.exit(process.exitCode ?? 0);
} catch (error) {
  const mend = error instanceof AppError ? error.hint : undefined;
  logger.error('the control plane cannot run', {
    error: messageOf(error),
    mend,
    stack: error instanceof AppError || !(error instanceof Error) ? undefined : error.stack,
  });
  process.exit(1);
}
