import type { CpuUsage, FilesystemUsage, MemoryUsage } from '../ports/stats.ts';
import type { Pressure, Stall } from '../ports/usage.ts';
import type { Compute, NetworkUsage, NodeCompute, NodeFigures, PodCompute, PodFigures } from './figures.ts';

/** `/stats/summary`: upstream's names; what is undefined is left out. */
export function summary(nodeName: string, node: NodeFigures, pods: readonly PodFigures[]): unknown {
  const { processes, nodeFs, imageFs, containerFs } = node;
  return {
    node: {
      ...nodeStats(nodeName, node),
      ...inputOutput(node),
      network: network(node.network),
      fs: filesystem(nodeFs),
      runtime: { imageFs: filesystem(imageFs), containerFs: filesystem(containerFs) },
      rlimit: { time: time(processes.atMs), maxpid: processes.max, curproc: processes.running },
    },
    pods: pods.filter(({ containers }) => containers.length > 0).map(podStats),
  };
}

/** The same with `only_cpu_and_memory`. */
export function computeSummary(nodeName: string, node: NodeCompute, pods: readonly PodCompute[]): unknown {
  const running = pods.filter(({ containers }) => containers.length > 0);
  return {
    node: nodeStats(nodeName, node),
    pods: running.map((pod) => ({
      ...reference(pod),
      ...compute(pod),
      containers: pod.containers.map((one) => ({ name: one.name, ...compute(one) })),
    })),
  };
}

function nodeStats(nodeName: string, node: NodeCompute) {
  const own = node.kubelet === undefined ? [] : [{ name: 'kubelet', ...compute(node.kubelet) }];
  return { nodeName, ...compute(node), systemContainers: [...own, { name: 'pods', ...compute(node.pods) }] };
}

function podStats(pod: PodFigures) {
  return {
    ...reference(pod),
    ...compute(pod),
    ...inputOutput(pod),
    containers: pod.containers.map((container) => ({
      name: container.name,
      ...compute(container),
      ...inputOutput(container),
      rootfs: filesystem(container.rootFs),
      logs: filesystem(container.logs),
    })),
    network: pod.network.interfaces.length === 0 ? undefined : network(pod.network),
    volume: pod.volumes.map((volume) => ({ ...filesystem(volume), name: volume.name, pvcRef: volume.claim })),
    'ephemeral-storage': filesystem(pod.ephemeralStorage),
    process_stats: { process_count: pod.processCount },
  };
}

function reference({ name, namespace, uid }: PodCompute) {
  return { podRef: { name, namespace, uid } };
}

function compute({ startedAtMs, cpu, memory, swap, pressure }: Compute) {
  return {
    startTime: time(startedAtMs),
    cpu: { ...cpuStats(cpu), psi: psi(pressure.cpu) },
    memory: { ...memoryStats(memory), psi: psi(pressure.memory) },
    swap: { time: time(swap.atMs), swapAvailableBytes: swap.availableBytes, swapUsageBytes: swap.usedBytes },
  };
}

function cpuStats({ atMs, nanoCores, totalNanos }: CpuUsage) {
  return { time: time(atMs), usageNanoCores: nanoCores, usageCoreNanoSeconds: totalNanos };
}

function memoryStats({ atMs, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults }: MemoryUsage) {
  return { time: time(atMs), availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
}

function inputOutput({ pressure, cpu }: Compute) {
  return pressure.io === undefined ? {} : { io: { time: time(cpu.atMs), psi: psi(pressure.io) } };
}

function psi(pressure: Pressure | undefined) {
  const stall = (one: Stall | undefined) => ({
    total: (one?.totalUs ?? 0) * 1000,
    avg10: one?.avg10 ?? 0,
    avg60: one?.avg60 ?? 0,
    avg300: one?.avg300 ?? 0,
  });
  return pressure === undefined ? undefined : { full: stall(pressure.full), some: stall(pressure.some) };
}

function filesystem({ atMs, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed }: FilesystemUsage) {
  return { time: time(atMs), availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed };
}

/** Source: upstream takes `eth0` for the one that a pod's figures are of. */
function network({ atMs, interfaces }: NetworkUsage) {
  const counted = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({ name, rxBytes, rxErrors, txBytes, txErrors }));
  return { time: time(atMs), ...(counted.find(({ name }) => name === 'eth0') ?? { name: '' }), interfaces: counted };
}

/** Whole seconds, as all times of the API. */
function time(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
