import type { Looker, Refusal, Row } from './matrix.ts';

// What a container is started with: its variables, its command, its arguments.

export const environmentObjects: readonly object[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'words' }, data: { COLOUR: 'blue', 'a.b-c': 'dotted' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'secrets' }, stringData: { PASSWORD: 'open sesame' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own-hosts' }, data: { hosts: '192.0.2.1 mine\n' } },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'front-end' },
    spec: {
      ports: [
        { name: 'web', port: 80 },
        { name: 'names', port: 53, protocol: 'UDP' },
      ],
    },
  },
];

const literal = (name: string, value?: string) => ({ name, value });
const from = (name: string, valueFrom: object) => ({ name, valueFrom });
const field = (name: string, fieldPath: string) => from(name, { fieldRef: { fieldPath } });
const resource = (name: string, what: string, more: object = {}) => from(name, { resourceFieldRef: { resource: what, ...more } });
const show = (...names: readonly string[]) => `echo "${names.map((name) => `$${name}`).join('|')}"`;
/** As the process got it: a shell hides what it cannot name. */
const given = (pattern: string) => `tr '\\0' '\\n' < /proc/1/environ | grep '${pattern}' | sort`;
const isSet = (name: string) => `[ -n "\${${name}+x}" ] && echo set || echo unset`;

const variables = [
  literal('A', 'one'),
  literal('EMPTY'),
  literal('COMPOSED', '$(A)-$(B)-$(ABSENT)'),
  literal('B', 'two'),
  literal('LATER', '$(A)-$(B)'),
  literal('ESCAPED', '$$(A) $$$(A) $A $(A'),
  from('COLOUR', { configMapKeyRef: { name: 'words', key: 'COLOUR' } }),
  from('NO_KEY', { configMapKeyRef: { name: 'words', key: 'absent', optional: true } }),
  from('NO_CONFIG', { configMapKeyRef: { name: 'absent', key: 'absent', optional: true } }),
  from('PASSWORD', { secretKeyRef: { name: 'secrets', key: 'PASSWORD' } }),
  from('NO_SECRET', { secretKeyRef: { name: 'absent', key: 'absent', optional: true } }),
  field('NAME', 'metadata.name'),
  field('NAMESPACE', 'metadata.namespace'),
  field('UID_OF_POD', 'metadata.uid'),
  field('TIER', "metadata.labels['tier']"),
  field('MOTTO', "metadata.annotations['motto']"),
  field('NODE', 'spec.nodeName'),
  field('ACCOUNT', 'spec.serviceAccountName'),
  field('HOST_IP', 'status.hostIP'),
  field('HOST_IPS', 'status.hostIPs'),
  field('POD_IP', 'status.podIP'),
  field('POD_IPS', 'status.podIPs'),
  resource('CPUS', 'limits.cpu'),
  resource('CPU_MILLI', 'limits.cpu', { divisor: '1m' }),
  resource('CPU_REQUEST', 'requests.cpu', { divisor: '1m' }),
  resource('MEMORY', 'limits.memory'),
  resource('MEMORY_MI', 'requests.memory', { divisor: '1Mi' }),
  resource('DISK', 'limits.ephemeral-storage', { divisor: '1Gi' }),
  resource('FREE_CPU', 'limits.cpu', { containerName: 'strict' }),
  resource('FREE_MEMORY', 'limits.memory', { containerName: 'strict' }),
];

const rows: readonly Row[] = [
  { feature: 'env: a value, and none', look: `${show('A')}; ${isSet('EMPTY')}`, sees: 'one\nset' },
  {
    feature: 'env: variables before it are put in, others are left as they stand',
    look: show('COMPOSED', 'LATER'),
    sees: 'one-$(B)-$(ABSENT)|one-two',
  },
  { feature: 'env: $$ is a dollar', look: show('ESCAPED'), sees: '$(A) $one $A $(A' },
  { feature: 'env: a key of a configMap, of a secret', look: show('COLOUR', 'PASSWORD'), sees: 'blue|open sesame' },
  {
    feature: 'subtle 46: env: what is optional and not there is no variable',
    look: [isSet('NO_KEY'), isSet('NO_CONFIG'), isSet('NO_SECRET')].join('; '),
    sees: 'unset\nunset\nunset',
  },
  { feature: 'envFrom: all keys, with a prefix', look: given('^CONFIG_'), sees: 'CONFIG_COLOUR=blue\nCONFIG_a.b-c=dotted' },
  { feature: 'envFrom: of a secret, without a prefix', look: given('^a.b-c=\\|^PASSWORD='), sees: 'PASSWORD=open sesame' },
  {
    feature: 'fieldRef: metadata',
    look: show('NAME', 'NAMESPACE', 'UID_OF_POD', 'TIER', 'MOTTO'),
    sees: ({ metadata }) => `${metadata.name}|${metadata.namespace}|${metadata.uid}|front|say yes`,
  },
  { feature: 'fieldRef: spec', look: show('NODE', 'ACCOUNT'), sees: ({ spec }) => `${spec?.nodeName}|default` },
  {
    feature: 'fieldRef: addresses',
    look: show('HOST_IP', 'HOST_IPS', 'POD_IP', 'POD_IPS'),
    sees: ({ status }) => {
      const all = (ips: readonly { readonly ip?: string }[] = []) => ips.map(({ ip }) => ip).join(',');
      return `${status?.hostIP}|${all(status?.hostIPs)}|${status?.podIP}|${all(status?.podIPs)}`;
    },
  },
  {
    feature: 'resourceFieldRef: rounded up to the divisor',
    look: show('CPUS', 'CPU_MILLI', 'CPU_REQUEST', 'MEMORY', 'MEMORY_MI', 'DISK'),
    sees: '2|1250|10|67108864|32|1',
  },
  { feature: 'resourceFieldRef: where no limit is, what the node can give', look: show('FREE_CPU', 'FREE_MEMORY'), sees: /^\d+\|\d{8,}$/ },
  {
    feature: 'service variables: where the API server is',
    look: show('KUBERNETES_SERVICE_PORT_HTTPS', 'KUBERNETES_PORT_443_TCP_PROTO'),
    sees: '443|tcp',
  },
  {
    feature: 'service variables: each service of the namespace, each port',
    look: `${given('^FRONT_END')} | sed s/$FRONT_END_SERVICE_HOST/IP/`,
    sees: [
      'FRONT_END_PORT=tcp://IP:80',
      'FRONT_END_PORT_53_UDP=udp://IP:53',
      'FRONT_END_PORT_53_UDP_ADDR=IP',
      'FRONT_END_PORT_53_UDP_PORT=53',
      'FRONT_END_PORT_53_UDP_PROTO=udp',
      'FRONT_END_PORT_80_TCP=tcp://IP:80',
      'FRONT_END_PORT_80_TCP_ADDR=IP',
      'FRONT_END_PORT_80_TCP_PORT=80',
      'FRONT_END_PORT_80_TCP_PROTO=tcp',
      'FRONT_END_SERVICE_HOST=IP',
      'FRONT_END_SERVICE_PORT=80',
      'FRONT_END_SERVICE_PORT_NAMES=53',
      'FRONT_END_SERVICE_PORT_WEB=80',
    ].join('\n'),
  },
  { feature: 'command: variables are put in', look: "echo '$(A) $$(A)' $(echo of the shell)", sees: 'one $(A) of the shell' },
];

export const environmentMetadata = { labels: { tier: 'front' }, annotations: { motto: 'say yes' } };
export const environmentContainers: readonly Looker[] = [
  {
    name: 'main',
    env: variables,
    envFrom: [
      { prefix: 'CONFIG_', configMapRef: { name: 'words' } },
      { secretRef: { name: 'secrets' } },
      { configMapRef: { name: 'absent', optional: true } },
    ],
    resources: {
      limits: { cpu: '1250m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
      requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '1Mi' },
    },
    rows,
  },
  {
    name: 'strict',
    env: [literal('A', 'one')],
    command: ['sh', '-c', `echo; echo '=== row 0'; echo "$1 $2 $3"`, '$(A)'],
    args: ['$(A)', '$$(A)', '$(ABSENT)'],
    rows: [{ feature: 'args: variables are put in', look: '', sees: 'one $(A) $(ABSENT)' }],
  },
];

const says = `echo; echo '=== row 0'; echo "$0 $*"; pwd`;
/** An image that says with what it was started, and where. */
export const spokenImage = { entrypoint: ['/bin/sh', '-c', says, 'entry'], command: ['usual'], workingDir: '/usr' };
const spoken = (image: string, name: string, feature: string, sees: string, more: object = {}): Looker => ({
  name,
  image,
  command: undefined,
  ...more,
  rows: [{ feature, look: '', sees }],
});
export const spokenContainers = (image: string): readonly Looker[] => [
  spoken(image, 'blank', 'the image says what is run, and where', 'entry usual\n/usr'),
  spoken(image, 'args', 'args: replace those of the image', 'entry my own\n/usr', { args: ['my', 'own'] }),
  spoken(image, 'command', 'command: replaces that of the image, and its arguments are not used', 'mine \n/usr', {
    command: ['/bin/sh', '-c', says, 'mine'],
  }),
  spoken(image, 'both', 'command and args', 'mine own\n/usr', { command: ['/bin/sh', '-c', says, 'mine'], args: ['own'] }),
  spoken(image, 'place', 'workingDir', 'entry usual\n/var', { workingDir: '/var' }),
];

const unset = (pod: string, feature: string, container: object, message: string): Refusal => ({
  feature: `subtle 46: ${feature}`,
  pod,
  container,
  by: 'waiting',
  reason: 'CreateContainerConfigError',
  message,
});
export const environmentRefusals: readonly Refusal[] = [
  unset(
    'env-config',
    'env: a configMap that is not there',
    { env: [from('X', { configMapKeyRef: { name: 'absent', key: 'x' } })] },
    'configmap "absent" not found',
  ),
  unset(
    'env-key',
    'env: a key that is not there',
    { env: [from('X', { configMapKeyRef: { name: 'words', key: 'x' } })] },
    "couldn't find key x in ConfigMap default/words",
  ),
  unset(
    'env-secret',
    'env: a secret that is not there',
    { env: [from('X', { secretKeyRef: { name: 'absent', key: 'x' } })] },
    'secret "absent" not found',
  ),
  unset(
    'env-secret-key',
    'env: a key of a secret that is not there',
    { env: [from('X', { secretKeyRef: { name: 'secrets', key: 'x' } })] },
    "couldn't find key x in Secret default/secrets",
  ),
  unset('env-from', 'envFrom: a configMap that is not there', { envFrom: [{ configMapRef: { name: 'absent' } }] }, 'configmap "absent" not found'),
];
