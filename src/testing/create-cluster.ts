import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, Unavailable } from '#base/errors.ts';
import { UndoStack } from '#base/undo-stack.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { type ClusterPaths, clusterPaths } from '#cluster/cluster-paths.ts';
import { type HostNames, hostNames } from '#cluster/host-names.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport } from '#wire/http/transport.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

export interface CreateClusterOptions {
  /** 1 (the default): a node with a real container runtime, needs root. 0: the control plane alone. */
  readonly nodes?: 0 | 1;
  /** Default: a name that no other cluster has. */
  readonly name?: string;
  /** Default: a temporary folder, in memory where that has room, removed on disposal. A folder that is given stays. */
  readonly dataDir?: string;
  /** Fields of the node's `KubeletConfiguration` that differ from their defaults. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  /**
   * Where the kubelet is killed (SIGKILL), each place once: `POD/POINT`. A point is a boundary of a step, `<step>:start|stop:before|after`, or of
   * a call to the runtime, `<call>:before|after` for a sandbox and `<call>:<container>:before|after` for a container: `web/sandbox:start:after`,
   * `web/StartContainer:main:before`. The supervisor starts it again.
   */
  readonly faults?: readonly string[];
  /** More words for `kubernode up`. */
  readonly upFlags?: readonly string[];
  /** Default: 120 s for `up`, and as long for disposal. */
  readonly timeoutMs?: number;
  /** The words of a command that is the `kubernode` program; default: the one of this package. */
  readonly program?: readonly string[];
}

/** A cluster of its own. Leaving its scope (`await using`) or `dispose` stops it and removes everything that it made on the host. */
export interface TestCluster extends AsyncDisposable {
  readonly name: string;
  readonly names: HostNames;
  readonly paths: ClusterPaths;
  /** Path of the admin kubeconfig. */
  readonly kubeconfig: string;
  readonly client: Client;
  /** Runs a `kubernode` command on this cluster: `--name` and `--data-dir` are added, before what is given. */
  kubernode(...words: readonly string[]): Promise<ProgramResult>;
  /** Loads an OCI or Docker archive into the node's runtime. @throws {Unavailable} with the command's words */
  loadImage(file: string): Promise<void>;
  /** Starts what is missing of it again, for instance after a test has killed a part. */
  up(): Promise<void>;
  /** May be called twice. */
  dispose(): Promise<void>;
}

/**
 * Starts an isolated cluster: its data, sockets, network, cgroups and ports are its own, so that any number may run side by side.
 *
 * @throws {Unavailable} with what `up` said, after removing what it had made
 */
export async function createCluster(options: CreateClusterOptions = {}): Promise<TestCluster> {
  const name = options.name ?? `t-${randomBytes(4).toString('hex')}`;
  const names = hostNames(name);
  const timeoutMs = options.timeoutMs ?? 120_000;
  await using undo = new UndoStack();
  const ownedDir = options.dataDir === undefined ? await temporaryFolder() : undefined;
  const dataDir = options.dataDir ?? join(ownedDir ?? '', 'data');
  const removeFolder = async () => {
    if (ownedDir !== undefined) await rm(ownedDir, { recursive: true, force: true });
  };
  undo.push('temporary folder', removeFolder);
  const program = options.program ?? ownProgram();
  const env: Readonly<Record<string, string>> = options.faults === undefined ? {} : { KUBERNODE_FAULTS: options.faults.join(',') };
  const run = ([command = '', ...words]: readonly string[]) =>
    runProgram([...program, command, '--name', name, '--data-dir', dataDir, ...words], timeoutMs, { env });
  const must = async (words: readonly string[]) => {
    const result = await run(words);
    if (result.code !== 0) throw new Unavailable({ message: `kubernode ${words.join(' ')} ended with ${result.code}: ${result.stderr.trim()}` });
  };
  const configured = options.kubelet === undefined ? [] : ['--kubelet-config', await writeConfiguration(dataDir, options.kubelet)];
  const up = () => must(['up', '--port', '0', ...(options.nodes === 0 ? ['--api-only'] : []), ...configured, ...(options.upFlags ?? [])]);
  const stop = () => must(['down', '--purge']);
  undo.push('cluster', stop);
  const paths = clusterPaths(names.runDir, dataDir);
  try {
    await up();
  } catch (error) {
    // The folder is about to go, and with it what the parts had to say.
    throw new Unavailable({ message: `${messageOf(error)}${await lastWords(paths.partLogs)}`, cause: error });
  }
  const transport = createHttpTransport(readKubeconfig(await readFile(paths.adminKubeconfig, 'utf8')));
  undo.commit();
  let disposal: Promise<void> | undefined;
  const dispose = () => {
    disposal ??= transport.close().then(stop).then(removeFolder);
    return disposal;
  };
  return {
    name,
    names,
    paths,
    kubeconfig: paths.adminKubeconfig,
    client: createClient(transport),
    kubernode: (...words) => run(words),
    loadImage: (file) => must(['image', 'load', file]),
    up,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Bundled, the program lies beside this file; from source, in the folder of the build. */
function ownProgram(): readonly string[] {
  const beside = fileURLToPath(new URL('kubernode.js', import.meta.url));
  return [process.execPath, existsSync(beside) ? beside : fileURLToPath(new URL('../../dist/kubernode.js', import.meta.url))];
}

const wantedMemoryBytes = 2 * 1024 ** 3;

async function temporaryFolder(): Promise<string> {
  const inMemory = await statfs('/dev/shm').then(
    (facts) => facts.bavail * facts.bsize > wantedMemoryBytes,
    () => false,
  );
  return await mkdtemp(join(inMemory ? '/dev/shm' : tmpdir(), 'kubernode-'));
}

async function writeConfiguration(dataDir: string, kubelet: Readonly<Record<string, unknown>>): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'kubelet-configuration.json');
  await writeFile(file, JSON.stringify(kubelet));
  return file;
}

const keptLines = 8;

/** The end of each part's log, for the message of a failure. */
async function lastWords(folder: string): Promise<string> {
  const files = await readdir(folder).catch(() => []); // it did not come so far
  const ends = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(join(folder, file), 'utf8')).trim().split('\n').slice(-keptLines);
      return lines.join('') === '' ? '' : `\n${file} ends with:\n${lines.join('\n')}`;
    }),
  );
  return ends.join('');
}
