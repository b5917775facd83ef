import { readFile, readlink, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { onAbort } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { InvalidInput, messageOf, NotFound } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import type { CliContext, ClusterChoice, Connection } from '#cli/context.ts';
import { clusterPaths, defaultDataDir } from '#cluster/cluster-paths.ts';
import { hostNames } from '#cluster/host-names.ts';
import { createHost } from './cluster-host.ts';
import { partLogger } from './part-logger.ts';

/** The command line's view of this host. Modules that only some commands need are loaded when they are used. */
export function createCliContext(signal: AbortSignal): CliContext {
  const kubeconfigPath = async (cluster: ClusterChoice): Promise<string> => {
    const { runDir } = hostNames(cluster.name);
    const linked = await readlink(clusterPaths(runDir, '').dataLink).catch(() => undefined); // a cluster that is down has no link
    const path = clusterPaths(runDir, cluster.dataDir ?? linked ?? defaultDataDir(cluster.name)).adminKubeconfig;
    if (!(await exists(path)))
      throw new NotFound({ message: `there is no cluster ${cluster.name}: ${path} does not exist`, hint: 'start one with `kubernode up`' });
    return path;
  };
  return {
    programName: process.env['KUBERNODE_PROGRAM'] ?? 'kubernode', // the launcher of a clone says how it was called
    clock: systemClock,
    signal,
    print: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
    readFile: readText,
    host: async () => {
      const isVerbose = process.env['KUBERNODE_DEBUG'] !== undefined;
      return await createHost(systemClock, isVerbose ? partLogger({ part: 'cli' }) : silentLogger);
    },
    programs: { supervisor: programOf('supervisor'), controlPlane: programOf('control-plane'), kubelet: programOf('kubelet') },
    timingNames: async () => {
      const [{ kubeletTimingNames }, { defaultControllerTimings }, { defaultQueueTimings }, { supervisorTimingNames }] = await Promise.all([
        import('#kubelet/kubelet-config.ts'),
        import('#controllers/context.ts'),
        import('#scheduler/scheduling-queue.ts'),
        import('#cluster/parts.ts'),
      ]);
      const settings = [defaultControllerTimings, defaultQueueTimings].flatMap((defaults) => Object.keys(defaults));
      return ['storeCompactionMs', ...kubeletTimingNames, ...settings, ...supervisorTimingNames].sort();
    },
    async readKubeletConfiguration(path, extent = 'whole') {
      const [{ readKubeletConfiguration }, text] = await Promise.all([import('./kubelet-configuration-file.ts'), readText(path)]);
      return readKubeletConfiguration(text, path, extent);
    },
    async checkCredentialProviders(configPath, directory) {
      const { readCredentialProviders } = await import('./credential-providers.ts');
      readCredentialProviders(configPath, directory);
    },
    untilInterrupted: () => new Promise<void>((resolve) => void onAbort(signal, resolve)),
    kubeconfigPath,
    async connect(cluster): Promise<Connection> {
      const path = await kubeconfigPath(cluster);
      const [{ createHttpTransport }, { readKubeconfig }, { createClient }] = await Promise.all([
        import('#wire/http/transport.ts'),
        import('#wire/http/kubeconfig.ts'),
        import('#client/api-client.ts'),
      ]);
      const transport = createHttpTransport(readKubeconfig(await readText(path)));
      return { client: createClient(transport), close: () => transport.close() };
    },
  };
}

/** Bundled, every program is one file; they and what they share lie side by side. */
function programOf(name: string) {
  return { program: process.execPath, args: [fileURLToPath(new URL(`./${name}.js`, import.meta.url))] };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new InvalidInput({ message: `cannot read ${path}: ${messageOf(cause)}`, hint: 'give a file that exists and may be read', cause });
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
