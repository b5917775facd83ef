import { readdir, readFile } from 'node:fs/promises';
import type { CpuTopologyPort, LogicalCpu } from '#kubelet/ports/cpu-topology.ts';
import { readMemoryNodes } from './memory-nodes.ts';

const root = '/sys/devices/system';

/** What the kernel says in sysfs. A machine that does not tell of its sockets and memory nodes has one of each. */
export const linuxCpuTopology: CpuTopologyPort = {
  memoryNodes: readMemoryNodes,
  async cpus() {
    const [online, nodes] = await Promise.all([readFile(`${root}/cpu/online`, 'utf8'), memoryNodes()]);
    return await Promise.all(numbersOf(online).map(async (cpu) => ({ ...(await placeOf(cpu)), memoryNode: nodes.get(cpu) ?? 0 })));
  },
};

async function placeOf(cpu: number): Promise<Omit<LogicalCpu, 'memoryNode'>> {
  const folder = `${root}/cpu/cpu${cpu}/topology`;
  const [siblings, socket] = await Promise.all(
    ['thread_siblings_list', 'physical_package_id'].map((file) => readFile(`${folder}/${file}`, 'utf8').catch(() => '')), // virtual machines may lack them
  );
  return { cpu, core: numbersOf(siblings ?? '')[0] ?? cpu, socket: Math.max(0, Number.parseInt(socket ?? '', 10) || 0) };
}

async function memoryNodes(): Promise<ReadonlyMap<number, number>> {
  const names = await readdir(`${root}/node`).catch(() => []); // a kernel without NUMA has no such folder
  const nodes = names.filter((name) => /^node\d+$/.test(name));
  const lists = await Promise.all(
    nodes.map(async (name) => [Number(name.slice(4)), await readFile(`${root}/node/${name}/cpulist`, 'utf8')] as const),
  );
  return new Map(lists.flatMap(([node, list]) => numbersOf(list).map((cpu) => [cpu, node] as const)));
}

/** `0-2,7` */
function numbersOf(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}
