import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { matrix, type Row, refusals } from '../support/matrix/matrix.ts';
import { refusedContexts } from '../support/matrix/refused-contexts.ts';
import { loadTestImage } from '../support/matrix/test-image.ts';
import { startCluster } from '../support/start-cluster.ts';

// Each field of the security contexts of pods and containers, as the containers see it, or why they may not run.

const cluster = await startCluster({ kubelet: { allowedUnsafeSysctls: ['kernel.msg*'] } });

const walker = await loadTestImage(
  cluster,
  'walker:1',
  { user: 'walker' },
  { 'etc/passwd': 'root:x:0:0::/:/bin/sh\nwalker:x:1000:1000::/:/bin/sh\n', 'etc/group': 'root:x:0:\nwalker:x:1000:\nmates:x:50000:walker\n' },
);
const numbered = await loadTestImage(cluster, 'numbered:1', { user: '1234:2345' });

const profiles = `${cluster.paths.kubeletRoot}/seccomp`;
await mkdir(profiles, { recursive: true });
const noFolders = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' }] };
await writeFile(`${profiles}/no-folders.json`, JSON.stringify(noFolders));

const ofStatus = (field: string) => `grep '^${field}:' /proc/self/status | cut -f2`;
const ids = 'id -u; id -g';
const seccomp = ofStatus('Seccomp');
const runtimeDefault = { type: 'RuntimeDefault' };
const namespaceOf = (kind: string) => `readlink /proc/self/ns/${kind}`;
const hosts = (kind: string) => readlinkSync(`/proc/self/ns/${kind}`);
const notHosts = (kind: string) => new RegExp(`^(?!${hosts(kind).replace(/[[\]]/g, '\\$&')})${kind}:`);

let counted = 0;
/** A container with that security context. */
const as = (securityContext: object, ...rows: readonly Row[]) => {
  counted += 1;
  return { name: `c${counted}`, securityContext, rows };
};
const capabilities = (feature: string, asked: object, sees: Row['sees']) =>
  as({ capabilities: asked }, { feature: `capabilities: ${feature}`, look: ofStatus('CapEff'), sees });

/** What a container may that asks for nothing. Source: containerd. */
const usual = 0xa80425fbn;
const [netAdmin, chown] = [1n << 12n, 1n << 0n];
const hex = (mask: bigint) => mask.toString(16).padStart(16, '0');
const all = /CapBnd:\s+(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';

const objects = [
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'heavy' }, handler: 'runc', overhead: { podFixed: { memory: '32Mi' } } },
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'light' }, handler: 'runc' },
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'unknown' }, handler: 'unknown' },
];

matrix('security contexts', cluster, objects, [
  {
    pod: 'containers',
    containers: [
      as(
        {},
        { feature: 'a container that asks for nothing runs as its image says', look: ids, sees: '0\n0' },
        { feature: 'capabilities: the runtime\u2019s usual ones', look: ofStatus('CapEff'), sees: hex(usual) },
        { feature: 'allowPrivilegeEscalation: it may unless that is said', look: ofStatus('NoNewPrivs'), sees: '0' },
        { feature: 'seccompProfile: Unconfined unless it is said', look: seccomp, sees: '0' },
        { feature: 'readOnlyRootFilesystem: it is writable unless that is said', look: 'touch /x && echo written', sees: 'written' },
        {
          feature: 'procMount Default: what tells of the host is hidden',
          look: 'cat /proc/kcore /proc/keys /proc/timer_list 2>/dev/null | wc -c; ls /sys/firmware | wc -l',
          sees: '0\n0',
        },
        {
          feature: 'procMount Default: the kernel\u2019s settings are read-only',
          look: 'echo x > /proc/sys/kernel/domainname',
          sees: /Read-only file system/,
        },
        { feature: 'without privileges the devices of the host are not there', look: 'ls /dev/kmsg /dev/loop0 2>/dev/null; echo none', sees: 'none' },
        { feature: 'hostPID: a container is in a process namespace of its own', look: 'cat /proc/1/comm', sees: 'sh' },
        { feature: 'hostIPC: a pod has an ipc namespace of its own', look: namespaceOf('ipc'), sees: notHosts('ipc') },
        { feature: 'hostNetwork: a pod has a network of its own', look: namespaceOf('net'), sees: notHosts('net') },
      ),
      as({ runAsUser: 65_534 }, { feature: 'runAsUser', look: 'id -u', sees: '65534' }),
      as({ runAsUser: 1001, runAsGroup: 3003 }, { feature: 'runAsUser and runAsGroup', look: ids, sees: '1001\n3003' }),
      as({ runAsUser: 1001, runAsNonRoot: true }, { feature: 'runAsNonRoot: a user is given', look: 'id -u', sees: '1001' }),
      capabilities('one more', { add: ['NET_ADMIN'] }, hex(usual | netAdmin)),
      capabilities('one less', { drop: ['CHOWN'] }, hex(usual & ~chown)),
      capabilities('none', { drop: ['ALL'] }, hex(0n)),
      capabilities('none but one', { drop: ['ALL'], add: ['NET_ADMIN'] }, hex(netAdmin)),
      capabilities('all', { add: ['ALL'] }, all),
      as(
        { privileged: true },
        { feature: 'privileged: all capabilities', look: ofStatus('CapEff'), sees: all },
        { feature: 'privileged: the devices of the host', look: 'ls /dev/loop0', sees: '/dev/loop0' },
        {
          feature: 'privileged: the kernel\u2019s settings are writable',
          look: '[ -w /proc/sys/kernel/domainname ] && echo rw',
          sees: 'rw',
        },
      ),
      as({ privileged: false }, { feature: 'privileged: false', look: ofStatus('CapEff'), sees: hex(usual) }),
      as({ allowPrivilegeEscalation: false }, { feature: 'allowPrivilegeEscalation: false', look: ofStatus('NoNewPrivs'), sees: '1' }),
      as({ allowPrivilegeEscalation: true }, { feature: 'allowPrivilegeEscalation: true', look: ofStatus('NoNewPrivs'), sees: '0' }),
      as({ readOnlyRootFilesystem: true }, { feature: 'readOnlyRootFilesystem: true', look: 'touch /x', sees: /Read-only file system/ }),
      as({ readOnlyRootFilesystem: false }, { feature: 'readOnlyRootFilesystem: false', look: 'touch /x && echo written', sees: 'written' }),
      as({ seccompProfile: runtimeDefault }, { feature: 'seccompProfile: RuntimeDefault', look: seccomp, sees: '2' }),
      as({ seccompProfile: { type: 'Unconfined' } }, { feature: 'seccompProfile: Unconfined', look: seccomp, sees: '0' }),
      as(
        { seccompProfile: { type: 'Localhost', localhostProfile: 'no-folders.json' } },
        { feature: 'seccompProfile: Localhost', look: 'mkdir /x; touch /y && echo files', sees: /Operation not permitted\nfiles$/ },
      ),
      as({ seLinuxOptions: { level: 's0:c1,c2' } }, { feature: 'seLinuxOptions: nothing where the kernel has no SELinux', look: 'id -u', sees: '0' }),
    ],
  },
  {
    pod: 'of-pod',
    spec: {
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 3000,
        runAsNonRoot: true,
        fsGroup: 4000,
        supplementalGroups: [5000, 6000],
        seccompProfile: runtimeDefault,
      },
    },
    containers: [
      as(
        {},
        { feature: 'of the pod: runAsUser and runAsGroup', look: ids, sees: '1000\n3000' },
        { feature: 'of the pod: fsGroup and supplementalGroups', look: 'id -G', sees: '3000 4000 5000 6000' },
        { feature: 'of the pod: seccompProfile', look: seccomp, sees: '2' },
      ),
      as(
        { runAsUser: 2000, seccompProfile: { type: 'Unconfined' } },
        { feature: 'what a container says goes before what the pod says', look: `${ids}; ${seccomp}`, sees: '2000\n3000\n0' },
      ),
      as({ runAsUser: 0, runAsNonRoot: false }, { feature: 'runAsNonRoot: the container may what the pod may not', look: 'id -u', sees: '0' }),
    ],
  },
  {
    pod: 'of-image',
    spec: { securityContext: { supplementalGroupsPolicy: 'Merge' } },
    containers: [
      {
        name: 'walker',
        image: walker,
        rows: [
          { feature: 'the user of the image, by name, with the groups that the image gives', look: `${ids}; id -G`, sees: '1000\n1000\n1000 50000' },
        ],
      },
      {
        name: 'numbered',
        image: numbered,
        securityContext: { runAsNonRoot: true },
        rows: [{ feature: 'runAsNonRoot: the number of the image\u2019s user will do', look: ids, sees: '1234\n0' }],
      },
      {
        name: 'merged',
        image: walker,
        securityContext: { runAsUser: 1000, runAsGroup: 7 },
        rows: [{ feature: 'supplementalGroupsPolicy: Merge', look: `${ids}; id -G`, sees: '1000\n7\n7 50000' }],
      },
    ],
  },
  {
    pod: 'of-host',
    spec: { hostPID: true, hostIPC: true, hostNetwork: true },
    containers: [
      as(
        {},
        { feature: 'hostPID: true', look: 'cat /proc/1/comm', sees: readFileSync('/proc/1/comm', 'utf8') },
        { feature: 'hostIPC: true', look: namespaceOf('ipc'), sees: hosts('ipc') },
        { feature: 'hostNetwork: true', look: namespaceOf('net'), sees: hosts('net') },
        { feature: 'hostNetwork: the name of the host', look: 'hostname', sees: readFileSync('/proc/sys/kernel/hostname', 'utf8') },
      ),
    ],
  },
  {
    pod: 'together',
    spec: { shareProcessNamespace: true },
    containers: [
      as({}, { feature: 'shareProcessNamespace: the first process is the sandbox\u2019s', look: 'cat /proc/1/comm', sees: /^(pause|catatonit)$/ }),
    ],
  },
  {
    pod: 'sysctls',
    spec: {
      securityContext: {
        sysctls: [
          { name: 'kernel.shm_rmid_forced', value: '1' },
          { name: 'net.ipv4.ip_local_port_range', value: '1024 65000' },
          { name: 'net/ipv4/tcp_keepalive_time', value: '77' },
          { name: 'kernel.msgmax', value: '65000' },
        ],
      },
    },
    containers: [
      as(
        {},
        { feature: 'sysctls: safe ones', look: 'cd /proc/sys; cat kernel/shm_rmid_forced net/ipv4/ip_local_port_range', sees: '1\n1024\t65000' },
        { feature: 'sysctls: with slashes', look: 'cat /proc/sys/net/ipv4/tcp_keepalive_time', sees: '77' },
        { feature: 'sysctls: unsafe ones that the node allows', look: 'cat /proc/sys/kernel/msgmax', sees: '65000' },
      ),
    ],
  },
  {
    pod: 'light',
    spec: { runtimeClassName: 'light' },
    containers: [as({}, { feature: 'runtimeClassName: a class without overhead', look: 'echo runs', sees: 'runs' })],
  },
  {
    pod: 'heavy',
    spec: { runtimeClassName: 'heavy' },
    containers: [
      {
        name: 'main',
        resources: { limits: { memory: '64Mi' } },
        rows: [
          {
            feature: 'runtimeClassName: overhead is the pod\u2019s, not the container\u2019s',
            look: 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max',
            sees: ({ spec }) => (spec?.overhead?.['memory'] === '32Mi' ? '67108864' : 'no overhead'),
          },
        ],
      },
    ],
  },
]);

refusals('what a container may not', cluster, refusedContexts(walker));
