import { readdir, readFile } from 'node:fs/promises';
import type { TestCluster } from '#testing/create-cluster.ts';

export interface Memory {
  /** Resident, MiB: supervisor, control plane and kubelet together. */
  readonly oursMiB: number;
  readonly parts: Readonly<Record<string, number>>;
  /** containerd and its shims. */
  readonly runtimeMiB: number;
}

const ourParts = ['supervisor', 'control-plane', 'kubelet'] as const;

export async function memoryOf(cluster: TestCluster): Promise<Memory> {
  const entries = await Promise.all(ourParts.map(async (part) => [part, await residentMiB(await pidOf(cluster, part))] as const));
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const commands = await Promise.all(pids.map(async (pid) => ({ pid, command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })));
  const runtime = commands.filter(
    ({ command }) => command.includes('containerd') && (command.includes(cluster.paths.runDir) || command.includes(cluster.paths.dataDir)),
  );
  const runtimeMiB = (await Promise.all(runtime.map(({ pid }) => residentMiB(pid)))).reduce((total, mib) => total + mib, 0);
  return { oursMiB: entries.reduce((total, [, mib]) => total + mib, 0), parts: Object.fromEntries(entries), runtimeMiB };
}

async function pidOf(cluster: TestCluster, part: string): Promise<number> {
  const { pid } = JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { readonly pid: number };
  return pid;
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
}
