import { readdir, readFile, statfs } from 'node:fs/promises';
import { arch, cpus, hostname, networkInterfaces, release, totalmem } from 'node:os';
import type { HostAddress, HostPort } from '#kubelet/ports/host.ts';

export const linuxHost: HostPort = {
  async facts() {
    const [meminfo, osRelease, machineId, systemUuid, bootId, routes, hugepages, maxPid, maxThreads, appArmor] = await Promise.all([
      textOf('/proc/meminfo'),
      textOf('/etc/os-release'),
      textOf('/etc/machine-id'),
      textOf('/sys/class/dmi/id/product_uuid'),
      textOf('/proc/sys/kernel/random/boot_id'),
      textOf('/proc/net/route'),
      hugepageSizes(),
      textOf('/proc/sys/kernel/pid_max'),
      textOf('/proc/sys/kernel/threads-max'),
      textOf('/sys/module/apparmor/parameters/enabled'),
    ]);
    return {
      hostname: hostname(),
      cpus: cpus().length,
      memoryBytes: kibibytesAt(meminfo, 'MemTotal') ?? totalmem(),
      swapBytes: kibibytesAt(meminfo, 'SwapTotal') ?? 0,
      hugepages,
      architecture: architectures[arch()] ?? arch(),
      kernelVersion: release(),
      osImage: prettyNameOf(osRelease),
      machineId: machineId.trim(),
      systemUuid: systemUuid.trim() === '' ? machineId.trim() : systemUuid.trim(), // readable by root only, and missing in containers
      bootId: bootId.trim(),
      maxProcesses: Math.min(...[maxPid, maxThreads].map(Number).filter((limit) => limit > 0)),
      hasAppArmor: appArmor.startsWith('Y'),
      addresses: hostAddresses(),
      defaultRouteInterface: defaultRouteOf(routes),
    };
  },
  async filesystem(path) {
    const { bsize, blocks, bavail, files, ffree } = await statfs(path);
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree };
  },
};

export function prettyNameOf(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1] ?? 'Linux';
  return value.replace(/^(["'])(.*)\1$/, '$2');
}

/** Interface of the first route to everywhere in `/proc/net/route`. */
export function defaultRouteOf(routes: string): string | undefined {
  const rows = routes
    .split('\n')
    .slice(1)
    .map((row) => row.split(/\s+/));
  return rows.find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0];
}

const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  ia32: '386',
  arm: 'arm',
  ppc64: 'ppc64le',
  s390x: 's390x',
  riscv64: 'riscv64',
};

async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => ''); // what a host does not say is left empty, as upstream does
}

function kibibytesAt(meminfo: string, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

async function hugepageSizes(): Promise<readonly { readonly sizeBytes: number; readonly pages: number }[]> {
  const root = '/sys/kernel/mm/hugepages';
  const names = await readdir(root).catch(() => []); // a kernel without them
  const sizes = names.flatMap((name) => {
    const kibibytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    return kibibytes === undefined ? [] : [{ name, sizeBytes: Number(kibibytes) * 1024 }];
  });
  const counted = sizes.map(async ({ name, sizeBytes }) => ({
    sizeBytes,
    pages: Number((await textOf(`${root}/${name}/nr_hugepages`)).trim()) || 0,
  }));
  return (await Promise.all(counted)).sort((a, b) => a.sizeBytes - b.sizeBytes);
}

function hostAddresses(): readonly HostAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal, address }) => !internal && !address.startsWith('169.254.') && !address.toLowerCase().startsWith('fe80:'))
      .map(({ address, family }): HostAddress => ({ interface: name, address, family: family === 'IPv4' ? 4 : 6 })),
  );
}
