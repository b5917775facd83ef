import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { NotFound } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { doctor } from './doctor.ts';

interface Facts {
  readonly programs: Readonly<Record<string, string>>;
  readonly paths: ReadonlySet<string>;
  readonly controllers: string;
  readonly rules: string;
  readonly isRoot: boolean;
}

const good: Facts = {
  programs: {
    containerd: 'containerd github.com/containerd/containerd 1.7.24',
    ctr: 'ctr 1.7.24',
    runc: 'runc version 1.1.5',
    iptables: 'iptables v1.8.9',
    ip: 'ip utility',
    mount: 'mount from util-linux',
    busybox: 'BusyBox v1.35.0',
  },
  paths: new Set(['/usr/bin/catatonit', ...['bridge', 'host-local', 'portmap', 'loopback'].map((plugin) => `/usr/lib/cni/${plugin}`)]),
  controllers: 'cpuset cpu io memory pids\n',
  rules: '*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n',
  isRoot: true,
};

/** Only what the checks ask for; anything else is a mistake of the test. */
function hostWith(facts: Facts): ClusterHost {
  const host = {
    files: {
      exists: async (path: string) => facts.paths.has(path),
      readText: async () => facts.controllers,
      removeTree: async () => undefined,
    },
    processes: {
      run: async (program: string) => {
        const stdout = facts.programs[program];
        if (stdout === undefined) throw new NotFound({ message: `${program} is not installed` });
        return { status: 0, stdout, stderr: '' };
      },
      hasCapability: async () => true,
    },
    mounts: { canOverlay: async () => true, listBelow: async () => [] },
    network: { rules: async () => facts.rules },
    clock: systemClock,
    log: silentLogger,
    isRoot: facts.isRoot,
    isLinux: true,
  };
  return host as unknown as ClusterHost;
}

const complaints = async (facts: Partial<Facts>) =>
  (await doctor(hostWith({ ...good, ...facts }), new AbortController().signal))
    .filter(({ result }) => result !== 'good')
    .map(({ check, result, mend }) => ({ check, result, mend }));

test('a host with everything has no complaint', async () => {
  assert.deepEqual(await complaints({}), []);
});

test('all that is missing is told at once, each with its package', async () => {
  const { runc: _runc, busybox: _busybox, ...programs } = good.programs;
  const found = await complaints({ programs, paths: new Set(), isRoot: false });
  assert.deepEqual(
    found.map(({ check, result }) => `${check}: ${result}`),
    ['root: bad', 'runc: bad', 'busybox: bad', 'catatonit: bad', 'network plugins: bad'],
  );
  assert.match(found.find(({ check }) => check === 'busybox')?.mend ?? '', /apt-get install busybox-static/);
});

test('a version that is too old, and controllers that are missing, are bad', async () => {
  const programs = { ...good.programs, containerd: 'containerd github.com/containerd/containerd 1.4.13' };
  assert.deepEqual(
    (await complaints({ programs, controllers: 'cpu io\n' })).map(({ check, result }) => `${check}: ${result}`),
    ['containerd: bad', 'control groups: bad'],
  );
});

test('a rule set that drops what is forwarded is an advice only', async () => {
  const found = await complaints({ rules: '*filter\n:FORWARD DROP [0:0]\nCOMMIT\n' });
  assert.deepEqual(
    found.map(({ check, result }) => `${check}: ${result}`),
    ['forwarding: advice'],
  );
});
