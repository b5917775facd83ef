import { readFile, stat } from 'node:fs/promises';
import { systemClock } from '#base/clock.ts';
import { InvalidInput, messageOf, NotFound } from '#base/errors.ts';
import type { ClusterChoice, CliContext, Connection } from '#cli/context.ts';
import { clusterPaths, defaultDataDir } from '#cluster/cluster-paths.ts';
import { hostNames } from '#cluster/host-names.ts';

/** The command line's view of this host. Modules that only some commands need are loaded when they are used. */
export function createCliContext(signal: AbortSignal): CliContext {
  const kubeconfigPath = async (cluster: ClusterChoice): Promise<string> => {
    const names = hostNames(cluster.name);
    const path = clusterPaths(names.runDir, cluster.dataDir ?? defaultDataDir(cluster.name)).adminKubeconfig;
    if (!(await exists(path))) throw new NotFound({ message: `there is no cluster ${cluster.name}: ${path} does not exist`, hint: 'start one with `kubernode up`' });
    return path;
  };
  return {
    clock: systemClock,
    signal,
    print: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
    readFile: readText,
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
