import { findCniPlugins } from '../choose-settings.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';

export interface Check {
  readonly name: string;
  /** Whether a cluster starts without it. */
  readonly isAdvice: boolean;
  readonly mend: string;
  look(host: ClusterHost, signal: AbortSignal): Promise<{ readonly isGood: boolean; readonly detail: string }>;
}

const controllers = ['cpu', 'memory', 'pids'];

export const checks: readonly Check[] = [
  {
    name: 'root',
    isAdvice: false,
    mend: 'run as root, or start the control plane alone with `kubernode up --api-only`',
    look: async (host) => ({ isGood: host.isRoot, detail: host.isRoot ? 'runs as root' : 'does not run as root' }),
  },
  program('containerd', 'containerd', ['--version'], /\b(1\.(6|7)|2)\.\d/, 'version 1.6, 1.7 or 2.x'),
  program('ctr', 'containerd', ['--version'], /./, 'any version'),
  program('runc', 'runc', ['--version'], /\b1\.\d/, 'version 1.x'),
  program('iptables', 'iptables', ['--version'], /./, 'any version'),
  program('ip', 'iproute2', ['-V'], /./, 'any version'),
  program('mount', 'mount', ['--version'], /./, 'any version'),
  program('busybox', 'busybox-static', ['--help'], /BusyBox/, 'a busybox for the image of that name'),
  {
    name: 'catatonit',
    isAdvice: false,
    mend: 'apt-get install catatonit',
    look: async (host) => present(await host.files.exists('/usr/bin/catatonit'), '/usr/bin/catatonit'),
  },
  {
    name: 'network plugins',
    isAdvice: false,
    mend: 'apt-get install containernetworking-plugins',
    look: async (host) => ({ isGood: true, detail: (await findCniPlugins(host)).join(', ') }),
  },
  {
    name: 'control groups',
    isAdvice: false,
    mend: `boot with the controllers ${controllers.join(', ')}, or give this container or machine write access to /sys/fs/cgroup`,
    look: lookAtControlGroups,
  },
  {
    name: 'overlay file systems',
    isAdvice: true,
    mend: 'put the data folder on ext4 or xfs (--data-dir); without overlay each container copies its image',
    look: async (host, signal) => {
      const isGood = await host.mounts.canOverlay('/var/lib/kubernode/.doctor', signal);
      await host.files.removeTree('/var/lib/kubernode/.doctor');
      return { isGood, detail: isGood ? 'work in /var/lib/kubernode' : 'do not work in /var/lib/kubernode' };
    },
  },
  {
    name: 'firewall',
    isAdvice: false,
    mend: 'load the kernel modules nf_nat and nf_tables (or ip_tables): modprobe nf_nat; and run as root',
    look: async (host, signal) => {
      const result = await host.processes.run('iptables', ['--table', 'nat', '--list-rules', 'POSTROUTING'], '', signal);
      return { isGood: result.status === 0, detail: result.status === 0 ? 'addresses can be translated' : result.stderr.trim() };
    },
  },
  {
    name: 'forwarding',
    isAdvice: true,
    mend: 'iptables --policy FORWARD ACCEPT (Docker sets DROP: pods then reach only their own node)',
    look: async (host, signal) => {
      const isDropped = /^:FORWARD DROP/m.test(await host.network.rules(signal));
      return { isGood: !isDropped, detail: isDropped ? 'the rule set drops what is forwarded' : 'packets are forwarded' };
    },
  },
  {
    name: 'oom scores',
    isAdvice: true,
    mend: 'give the capability CAP_SYS_RESOURCE; without it all pods have the oom score of the runtime',
    look: async (host) => {
      const isGood = await host.processes.hasCapability(24);
      return { isGood, detail: isGood ? 'can be lowered' : 'cannot be lowered' };
    },
  },
];

function program(name: string, debianPackage: string, args: readonly string[], version: RegExp, wanted: string): Check {
  return {
    name,
    isAdvice: false,
    mend: `apt-get install ${debianPackage} (${wanted})`,
    async look(host, signal) {
      const result = await host.processes.run(name, args, '', signal);
      const text = `${result.stdout}${result.stderr}`;
      return { isGood: version.test(text), detail: text.trim().split('\n')[0] ?? '' };
    },
  };
}

function present(isGood: boolean, what: string): { readonly isGood: boolean; readonly detail: string } {
  return { isGood, detail: isGood ? what : `${what} is not there` };
}

async function lookAtControlGroups(host: ClusterHost): Promise<{ readonly isGood: boolean; readonly detail: string }> {
  const unified = await host.files.readText('/sys/fs/cgroup/cgroup.controllers');
  const mounts = (await host.mounts.listBelow('/sys/fs/cgroup')).filter(({ fsType }) => fsType === 'cgroup' || fsType === 'cgroup2');
  const has = (name: string) =>
    unified === undefined
      ? mounts.some(({ target }) => (target.split('/').at(-1) ?? '').split(',').includes(name))
      : unified.trim().split(' ').includes(name);
  const missing = controllers.filter((name) => !has(name));
  if (missing.length > 0) return { isGood: false, detail: `the controllers ${missing.join(', ')} are missing` };
  return { isGood: true, detail: unified === undefined ? 'version 1' : 'version 2' };
}
