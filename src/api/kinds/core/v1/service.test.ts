import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { aNewService, aStoredService, serviceMetadata } from '#api/testing/services.ts';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';
import { service as kind } from './service.ts';

const problems = (spec: ServiceSpec, annotations?: Record<string, string>) => kind.validate(aNewService(spec, annotations)).map(problemText);
const cells = (service: Service) => kind.columns.map((column) => column.cell(service, Date.parse('2026-01-02T03:05:05Z')));

test('a Service has defaults by its type', () => {
  const common = { sessionAffinity: 'None', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] };
  const internal = { ...common, internalTrafficPolicy: 'Cluster' };
  assert.deepEqual(aNewService({}).spec, { ...internal, type: 'ClusterIP' });
  assert.deepEqual(aNewService({ type: 'NodePort' }).spec, { ...internal, type: 'NodePort', externalTrafficPolicy: 'Cluster' });
  assert.deepEqual(aNewService({ type: 'LoadBalancer' }).spec, {
    ...internal,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  });
  assert.deepEqual(aNewService({ type: 'ExternalName', externalName: 'a.b' }).spec, { ...common, type: 'ExternalName', externalName: 'a.b' });
  assert.equal(aNewService({ externalIPs: ['1.2.3.4'] }).spec?.externalTrafficPolicy, 'Cluster');
  assert.deepEqual(aNewService({ sessionAffinity: 'ClientIP' }).spec?.sessionAffinityConfig, { clientIP: { timeoutSeconds: 10_800 } });
  assert.equal(aNewService({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }).spec?.sessionAffinityConfig, undefined);
  assert.equal(aNewService({ ports: [{ port: 80, targetPort: 'http' }] }).spec?.ports?.[0]?.targetPort, 'http');
});

test('a load balancer without a word on it forwards with its own address', () => {
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'a.b' }] } };
  assert.deepEqual(kind.setDefaults({ ...aNewService({ type: 'LoadBalancer' }), status }).status?.loadBalancer?.ingress, [
    { ip: '1.2.3.4', ipMode: 'VIP' },
    { hostname: 'a.b' },
  ]);
});

test('clusterIP stands for clusterIPs, never the other way round', () => {
  assert.deepEqual(aNewService({ clusterIP: '10.96.0.7' }).spec?.clusterIPs, ['10.96.0.7']);
  assert.deepEqual(problems({ clusterIPs: ['10.96.0.7'] }), [
    'spec.clusterIPs: Invalid value: ["10.96.0.7"]: must be empty when `clusterIP` is not specified',
  ]);
  assert.deepEqual(problems({ clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.7'] }), [
    'spec.clusterIPs: Invalid value: ["10.96.0.7"]: first value must match `clusterIP`',
  ]);
});

const refused: readonly (readonly [what: string, spec: ServiceSpec, ...problems: readonly string[]])[] = [
  ['no ports', { ports: [] }, 'spec.ports: Required value'],
  ['an unknown type', { type: 'X' }, 'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  ['several ports without names', { ports: [{ port: 80 }, { port: 81, name: 'b' }] }, 'spec.ports[0].name: Required value'],
  [
    'a port twice',
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    },
    'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":80}',
  ],
  [
    'a name twice',
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'a' },
      ],
    },
    'spec.ports[1].name: Duplicate value: "a"',
  ],
  ['a port out of range', { ports: [{ port: 0, targetPort: 1 }] }, 'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  [
    'an unknown protocol',
    { ports: [{ port: 1, protocol: 'X' }] },
    'spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  [
    'a target that is no port name',
    { ports: [{ port: 1, targetPort: 'a--b' }] },
    'spec.ports[0].targetPort: Invalid value: "a--b": must not contain consecutive hyphens',
  ],
  [
    'a node port of a ClusterIP',
    { ports: [{ port: 1, nodePort: 30_000 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  [
    'a node port twice',
    {
      type: 'NodePort',
      ports: [
        { port: 1, name: 'a', nodePort: 30_000 },
        { port: 2, name: 'b', nodePort: 30_000 },
      ],
    },
    'spec.ports[1].nodePort: Duplicate value: 30000',
  ],
  [
    'a headless NodePort',
    { type: 'NodePort', clusterIP: 'None' },
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
  ],
  [
    'None beside an address',
    { clusterIP: 'None', clusterIPs: ['None', '10.96.0.7'] },
    'spec.clusterIPs: Invalid value: ["None","10.96.0.7"]: \'None\' must be the first and only value',
  ],
  [
    'an address that is none',
    { clusterIP: '10.96.0' },
    'spec.clusterIPs[0]: Invalid value: "10.96.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  ['leading zeros', { clusterIP: '10.096.0.1' }, 'spec.clusterIPs[0]: Invalid value: "10.096.0.1": must not have leading 0s'],
  [
    'two addresses of one family',
    { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', '10.96.0.8'] },
    'spec.clusterIPs: Invalid value: ["10.96.0.7","10.96.0.8"]: may specify no more than one IP for each IP family',
  ],
  [
    'an address of the other family',
    { clusterIP: 'fd00::1', ipFamilies: ['IPv4'] },
    'spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[0]`',
  ],
  ['an unknown family', { ipFamilies: ['X'] }, 'spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"'],
  ['an ExternalName without a name', { type: 'ExternalName' }, 'spec.externalName: Required value'],
  [
    'an ExternalName with addresses',
    { type: 'ExternalName', externalName: 'a.b.', clusterIP: '10.96.0.7', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
  ],
  [
    'a long affinity',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  ['an unknown affinity', { sessionAffinity: 'X' }, 'spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'],
  [
    'an external loopback address',
    { externalIPs: ['127.0.0.1'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
  [
    'source ranges without a load balancer',
    { loadBalancerSourceRanges: ['10.0.0.0/8'] },
    "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    'a bad source range',
    { type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.0/8 ', '10.0.0.1/8'] },
    'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
  ],
  [
    'a class without a load balancer',
    { loadBalancerClass: 'a' },
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    'allocation without a load balancer',
    { allocateLoadBalancerNodePorts: true },
    "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    'an external policy inside',
    { externalTrafficPolicy: 'Local' },
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  [
    'an unknown external policy',
    { type: 'NodePort', externalTrafficPolicy: 'X' },
    'spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
  ],
  [
    'a health port without need',
    { type: 'NodePort', healthCheckNodePort: 30_001 },
    "spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ],
  [
    'an unknown distribution',
    { trafficDistribution: 'X' },
    'spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
  ],
];
for (const [what, spec, ...texts] of refused) {
  test(`a Service may not have ${what}`, () => assert.deepEqual(problems(spec), texts));
}

test('a Service may be headless without ports, and have a name that begins with a digit', () => {
  assert.deepEqual(problems({ ports: [], clusterIP: 'None' }), []);
  assert.deepEqual(kind.validate({ ...aNewService({}), metadata: { ...serviceMetadata, name: '1a' } }), []);
  assert.match(
    problemText(kind.validate({ ...aNewService({}), metadata: { ...serviceMetadata, name: 'a.b' } })[0] ?? assert.fail()),
    /must not contain dots$/,
  );
});

test('annotations are judged where they stand for fields', () => {
  const range = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  assert.deepEqual(problems({}, { [range]: '10.0.0.0/8' }), [
    `metadata.annotations[${range}]: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
  ]);
  assert.deepEqual(problems({ type: 'LoadBalancer' }, { [range]: ' 10.0.0.0/8, 11.0.0.0/8' }), []);
  const hints = { 'service.kubernetes.io/topology-aware-hints': 'Auto', 'service.kubernetes.io/topology-mode': 'Disabled' };
  assert.deepEqual(problems({}, hints), [
    'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Disabled": ' +
      'must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
  ]);
});

test('whoever writes what has no effect is told so', () => {
  assert.deepEqual(
    kind.warnings(aNewService({ clusterIP: 'None', loadBalancerIP: '1.2.3.4', externalIPs: ['1.2.3.4'], sessionAffinity: 'ClientIP' }), undefined),
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
  );
  assert.deepEqual(kind.warnings(aNewService({ externalName: 'a', trafficDistribution: 'PreferClose', externalIPs: ['FD00::1'] }), undefined), [
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    'spec.externalIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ]);
});

test('rows of Services have the usual cells', () => {
  assert.deepEqual(
    kind.columns.map(({ name, priority }) => `${name}${priority}`),
    ['Name0', 'Type0', 'Cluster-IP0', 'External-IP0', 'Port(s)0', 'Age0', 'Selector1'],
  );
  assert.deepEqual(cells(aStoredService({ selector: { b: '2', a: '1' } })), ['web', 'ClusterIP', '10.96.0.7', '<none>', '80/TCP', '60s', 'a=1,b=2']);
  const several = {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80, nodePort: 30_001 },
      { name: 'b', port: 53, protocol: 'UDP' },
    ],
  };
  assert.deepEqual(cells(aStoredService({ ...several, externalIPs: ['1.2.3.4', '1.2.3.5'] })).slice(3, 5), [
    '1.2.3.4,1.2.3.5',
    '80:30001/TCP,53/UDP',
  ]);
  assert.deepEqual(cells(aStoredService({ type: 'LoadBalancer' }))[3], '<pending>');
  const ingress = [{ ip: '1.2.3.4' }, { hostname: 'a-very-long-name.of-a-load-balancer' }];
  assert.deepEqual(
    cells({ ...aStoredService({ type: 'LoadBalancer', externalIPs: ['9.9.9.9'] }), status: { loadBalancer: { ingress } } })[3],
    '1.2.3.4,a-very-long-name.of-a-load-balancer,9.9.9.9',
  );
  assert.deepEqual(cells(aNewService({ type: 'ExternalName', externalName: 'a.b', ports: [] })).slice(1, 5), [
    'ExternalName',
    '<none>',
    'a.b',
    '<none>',
  ]);
});
