import { readdir, readFile } from 'node:fs/promises';
import type { MemoryNode } from '#kubelet/ports/cpu-topology.ts';

/** The NUMA nodes of sysfs; a kernel without NUMA has no such folder. */
export async function readMemoryNodes(): Promise<readonly MemoryNode[]> {
  const root = '/sys/devices/system/node';
  const names = (await readdir(root).catch(() => [])).filter((name) => /^node\d+$/.test(name));
  const nodes = await Promise.all(names.map((name) => readNode(Number(name.slice(4)), `${root}/${name}`)));
  if (nodes.length === 0) return [await withoutNuma()];
  return nodes.sort((a, b) => a.node - b.node);
}

async function readNode(node: number, folder: string): Promise<MemoryNode> {
  const [memory, distance, hugepages] = await Promise.all([
    readFile(`${folder}/meminfo`, 'utf8'),
    readFile(`${folder}/distance`, 'utf8').catch(() => ''),
    readHugepages(`${folder}/hugepages`),
  ]);
  const distances = distance.trim().split(/\s+/).filter(Boolean).map(Number);
  return { node, memoryBytes: totalOf(memory), hugepages, distances };
}

async function withoutNuma(): Promise<MemoryNode> {
  const memory = await readFile('/proc/meminfo', 'utf8');
  return { node: 0, memoryBytes: totalOf(memory), hugepages: await readHugepages('/sys/kernel/mm/hugepages'), distances: [10] };
}

function totalOf(meminfo: string): number {
  return Number(/MemTotal:\s*(\d+) kB/.exec(meminfo)?.[1] ?? 0) * 1024;
}

async function readHugepages(folder: string): Promise<MemoryNode['hugepages']> {
  const names = await readdir(folder).catch(() => []);
  return await Promise.all(
    names.map(async (name) => ({
      sizeBytes: Number(/(\d+)kB/.exec(name)?.[1] ?? 0) * 1024,
      pages: Number(await readFile(`${folder}/${name}/nr_hugepages`, 'utf8')),
    })),
  );
}
