import type { Looker, Refusal, Row, Subject } from './matrix.ts';

// How a pod is called, what it has in /etc/hosts, and whom it asks for names.

/** The node's resolv.conf in these tests, and the servers of the cluster. */
export const nodeResolvConf = 'nameserver 192.0.2.53\nsearch node.example.com\noptions timeout:7 attempts:1\n';
export const clusterDns = ['10.96.0.10', '10.96.0.11'] as const;

const main = (...rows: readonly Row[]): readonly Looker[] => [{ name: 'main', rows }];
const look = 'cat /etc/resolv.conf';
const node = 'search node.example.com\nnameserver 192.0.2.53\noptions timeout:7 attempts:1';
const searches = 'search default.svc.cluster.local svc.cluster.local cluster.local node.example.com';
const servers = clusterDns.map((one) => `nameserver ${one}`).join('\n');
const cluster = `${searches}\n${servers}\noptions ndots:5`;
const own = {
  nameservers: ['198.51.100.1', '198.51.100.2'],
  searches: ['one.test', 'node.example.com'],
  options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
};

const dns = (pod: string, feature: string, spec: object, sees: string): Subject => ({ pod, spec, containers: main({ feature, look, sees }) });
export const manyServers = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];

export const dnsSubjects: readonly Subject[] = [
  dns('dns-cluster', 'dnsPolicy ClusterFirst: the cluster\u2019s servers and searches, then the node\u2019s searches', {}, cluster),
  dns('dns-node', 'dnsPolicy Default: as the node', { dnsPolicy: 'Default' }, node),
  dns('dns-host', 'subtle 51: ClusterFirst on the host\u2019s network is as the node', { hostNetwork: true }, node),
  dns('dns-both', 'subtle 51: ClusterFirstWithHostNet is as the cluster', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, cluster),
  dns(
    'dns-own',
    'dnsPolicy None: nothing but dnsConfig',
    { dnsPolicy: 'None', dnsConfig: own },
    'search one.test node.example.com\nnameserver 198.51.100.1\nnameserver 198.51.100.2\noptions ndots:2 edns0',
  ),
  dns(
    'dns-more',
    'dnsConfig: is added to the policy\u2019s, twice is once, and its options go before',
    { dnsPolicy: 'Default', dnsConfig: { ...own, options: [{ name: 'timeout', value: '2' }] } },
    'search node.example.com one.test\nnameserver 192.0.2.53\nnameserver 198.51.100.1\nnameserver 198.51.100.2\noptions timeout:2 attempts:1',
  ),
  dns(
    'dns-five',
    'subtle 52: of five servers the first three are kept',
    { dnsConfig: { nameservers: manyServers } },
    `${searches}\n${servers}\nnameserver ${manyServers[0]}\noptions ndots:5`,
  ),
];

const hostsOf =
  (names: string, more = '') =>
  (ip: string) =>
    `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
${ip}\t${names}
${more}`;
const hosts = (feature: string, names: string, more?: string): Row => ({
  feature,
  look: 'cat /etc/hosts',
  sees: ({ status }) => hostsOf(names, more)(status?.podIP ?? 'no address'),
});
const hostname = (feature: string, sees: string): Row => ({ feature, look: 'hostname', sees });
const long = `a-very-long-name-${'x'.repeat(45)}-y-z`;
const aliases = [
  { ip: '203.0.113.7', hostnames: ['seven', 'seven.test'] },
  { ip: '203.0.113.8', hostnames: ['eight'] },
];
const aliasLines = '\n# Entries added by HostAliases.\n203.0.113.7\tseven\tseven.test\n203.0.113.8\teight\n';
const domain = 'sub.default.svc.cluster.local';
const ownHosts = { name: 'own', mountPath: '/etc/hosts', subPath: 'hosts' };

export const nameSubjects = (nodeHosts: string): readonly Subject[] => [
  {
    pod: 'plain-name',
    spec: { volumes: [{ name: 'own', configMap: { name: 'own-hosts' } }], hostAliases: aliases },
    containers: [
      {
        name: 'main',
        rows: [
          hostname('hostname: the pod\u2019s name', 'plain-name'),
          hosts('hostAliases: /etc/hosts has the pod and its aliases', 'plain-name', aliasLines),
          { feature: 'the runtime tells the name as a variable too', look: 'echo $HOSTNAME', sees: 'plain-name' },
        ],
      },
      {
        name: 'own',
        volumeMounts: [ownHosts],
        rows: [{ feature: 'subtle 49: who mounts at /etc/hosts has its own', look: 'cat /etc/hosts', sees: '192.0.2.1 mine' }],
      },
    ],
  },
  {
    pod: 'on-host',
    spec: { hostNetwork: true, hostAliases: aliases },
    containers: main({
      feature: 'subtle 49: on the host\u2019s network /etc/hosts is the node\u2019s, with a header and the aliases',
      look: 'cat /etc/hosts',
      sees: `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliasLines}`,
    }),
  },
  {
    pod: 'other-name',
    spec: { hostname: 'other' },
    containers: main(hostname('hostname', 'other'), hosts('hostname: in /etc/hosts', 'other')),
  },
  {
    pod: 'in-domain',
    spec: { hostname: 'host', subdomain: 'sub' },
    containers: main(hostname('subdomain: the name stays short', 'host'), hosts('subdomain: /etc/hosts has the whole name', `host.${domain}\thost`)),
  },
  {
    pod: 'whole',
    spec: { subdomain: 'sub', setHostnameAsFQDN: true },
    containers: main(
      hostname('setHostnameAsFQDN: the kernel has the whole name', `whole.${domain}`),
      hosts('setHostnameAsFQDN: /etc/hosts', `whole.${domain}\twhole`),
    ),
  },
  {
    pod: 'over',
    spec: { hostnameOverride: 'over.ride.example', subdomain: 'sub', setHostnameAsFQDN: false },
    containers: main(hostname('hostnameOverride: as it is', 'over.ride.example'), hosts('hostnameOverride: in /etc/hosts', 'over.ride.example')),
  },
  {
    pod: long,
    containers: main(hostname('hostname: a long name is cut at 63 characters, and not at a dash', long.slice(0, 63).replace(/-+$/, ''))),
  },
];

export const nameRefusals: readonly Refusal[] = [
  {
    feature: 'setHostnameAsFQDN: more than 64 characters are no name for the kernel',
    pod: 'a-name-that-is-too-long-with-its-domain',
    spec: { subdomain: 'sub', setHostnameAsFQDN: true },
    by: 'event',
    reason: 'FailedCreatePodSandBox',
    message: new RegExp(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN a-name-that-is-too-long-with-its-domain.${domain} is too long \\(64 characters is the max, 69 characters requested\\)`,
    ),
  },
  {
    feature: 'subtle 52: that servers were left out is told',
    pod: 'dns-six',
    spec: { dnsConfig: { nameservers: manyServers } },
    by: 'event',
    reason: 'DNSConfigForming',
    message: `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${clusterDns.join(' ')} ${manyServers[0]}`,
  },
];
