import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { basename } from 'node:path';
import { NotFound, Unavailable } from '#base/errors.ts';
import type { BridgeSettings, HostLink, HostNetwork, HostRoute } from '#cluster/ports/network.ts';
import type { HostProcesses } from '#cluster/ports/processes.ts';
import { errnoOf } from './errno.ts';

/** The host's network, by `/sys`, `/proc` and the programs `ip` and `iptables`. */
export function createHostNetwork(processes: HostProcesses): HostNetwork {
  const must = async (program: string, args: readonly string[], input: string, signal: AbortSignal): Promise<string> => {
    const result = await processes.run(program, args, input, signal);
    if (result.status !== 0) throw new Unavailable({ message: `${program} ${args.join(' ')}: ${result.stderr.trim()}` });
    return result.stdout;
  };
  return {
    links: async () => readLinks(),
    routes: async () => readRoutes().flatMap(({ range, link, prefix }) => (prefix === 0 ? [] : [{ range, link }])),
    outwardAddress: async () => outwardAddress(),
    async ensureBridge(settings, signal) {
      if (hasAddress(settings)) return;
      const { name, macAddress, mtu } = settings;
      if (!existsSync(`/sys/class/net/${name}`)) {
        await must('ip', ['link', 'add', name, 'address', macAddress, 'mtu', String(mtu), 'type', 'bridge'], '', signal);
      }
      await must('ip', ['-batch', '-'], `address replace ${settings.address} dev ${settings.name}\nlink set ${settings.name} up\n`, signal);
    },
    async deleteLink(name, signal) {
      if (existsSync(`/sys/class/net/${name}`)) await must('ip', ['link', 'delete', name], '', signal);
    },
    enableForwarding: async () => {
      const file = '/proc/sys/net/ipv4/ip_forward';
      if (readFileSync(file, 'utf8').trim() !== '1') writeFileSync(file, '1'); // it may be read-only, and right already
    },
    async rules(signal) {
      try {
        return await must('iptables-save', [], '', signal);
      } catch (error) {
        if (error instanceof NotFound) return '';
        throw error;
      }
    },
    changeRules: async (text, signal) => {
      await must('iptables-restore', ['--noflush', '--wait', '10'], text, signal);
    },
    async freePort(address, wish) {
      if (wish !== 0 && (await isPortFree(address, wish))) return wish;
      return await boundPort(address, 0);
    },
    isPortFree,
  };
}

function readLinks(): readonly HostLink[] {
  return readdirSync('/sys/class/net').map((name) => {
    try {
      return { name, master: basename(readlinkSync(`/sys/class/net/${name}/master`)) };
    } catch {
      return { name, master: undefined };
    }
  });
}

/** Source: `/proc/net/route` prints addresses as hexadecimal numbers in the machine's byte order, which is little-endian here. */
function readRoutes(): readonly (HostRoute & { readonly prefix: number })[] {
  return readFileSync('/proc/net/route', 'utf8')
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.split('\t');
      const [link, destination] = fields;
      const mask = fields[7];
      if (link === undefined || destination === undefined || mask === undefined) return [];
      const prefix = bytesOf(mask).reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
      return [{ range: `${bytesOf(destination).join('.')}/${prefix}`, link, prefix }];
    });
}

function bytesOf(hex: string): readonly number[] {
  return [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

function outwardAddress(): { readonly address: string; readonly mtu: number } {
  const link = readRoutes().find((route) => route.prefix === 0)?.link;
  const address = networkInterfaces()[link ?? '']?.find((candidate) => candidate.family === 'IPv4')?.address;
  if (link === undefined || address === undefined) return { address: '127.0.0.1', mtu: 1500 };
  return { address, mtu: Number(readFileSync(`/sys/class/net/${link}/mtu`, 'utf8')) };
}

function hasAddress(settings: BridgeSettings): boolean {
  return networkInterfaces()[settings.name]?.some((candidate) => candidate.cidr === settings.address) ?? false;
}

async function isPortFree(address: string, port: number): Promise<boolean> {
  try {
    await boundPort(address, port);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EADDRINUSE' || errno === 'EACCES') return false;
    throw error;
  }
}

function boundPort(address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => (typeof bound === 'object' && bound !== null ? resolve(bound.port) : reject(new Error('a TCP server has no port'))));
    });
  });
}
