import type { LogicalCpu } from '../../ports/cpu-topology.ts';

/** A machine whose threads are numbered as the kernel does: the first threads of all cores, then the second ones. Each socket is a memory node. */
export function machine(sockets: number, coresOfSocket: number, threadsOfCore: number): readonly LogicalCpu[] {
  const cores = sockets * coresOfSocket;
  return Array.from({ length: cores * threadsOfCore }, (_, cpu) => {
    const core = cpu % cores;
    const socket = Math.floor(core / coresOfSocket);
    return { cpu, core, socket, memoryNode: socket };
  });
}
