import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';
import { service as kind } from './service.ts';

const metadata = { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };
const bare = (spec: ServiceSpec, annotations?: Record<string, string>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: annotations === undefined ? metadata : { ...metadata, annotations },
  spec,
});
const ports = [{ port: 80 }];
/** As the server has it before it is stored: with defaults. */
const given = (spec: ServiceSpec, annotations?: Record<string, string>) =>
  kind.prepareCreate(kind.setDefaults(bare({ ports, ...spec }, annotations)));
const problems = (spec: ServiceSpec, annotations?: Record<string, string>) => kind.validate(given(spec, annotations)).map(problemText);
const updated = (next: ServiceSpec, previous: Service) => kind.prepareUpdate(kind.setDefaults(bare({ ports, ...next })), previous);
const updateProblems = (next: ServiceSpec, previous: Service) => kind.validateUpdate(updated(next, previous), previous).map(problemText);
const cells = (service: Service) => kind.columns.map((column) => column.cell(service, Date.parse('2026-01-02T03:05:05Z')));
const stored = (spec: ServiceSpec): Service => given({ clusterIP: '10.96.0.7', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec });

test('a Service has defaults by its type', () => {
  const common = { sessionAffinity: 'None', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] };
  const internal = { ...common, internalTrafficPolicy: 'Cluster' };
  assert.deepEqual(given({}).spec, { ...internal, type: 'ClusterIP' });
  assert.deepEqual(given({ type: 'NodePort' }).spec, { ...internal, type: 'NodePort', externalTrafficPolicy: 'Cluster' });
  assert.deepEqual(given({ type: 'LoadBalancer' }).spec, {
    ...internal,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  });
  assert.deepEqual(given({ type: 'ExternalName', externalName: 'a.b' }).spec, { ...common, type: 'ExternalName', externalName: 'a.b' });
  assert.equal(given({ externalIPs: ['1.2.3.4'] }).spec?.externalTrafficPolicy, 'Cluster');
  assert.deepEqual(given({ sessionAffinity: 'ClientIP' }).spec?.sessionAffinityConfig, { clientIP: { timeoutSeconds: 10_800 } });
  assert.equal(given({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }).spec?.sessionAffinityConfig, undefined);
  assert.equal(given({ ports: [{ port: 80, targetPort: 'http' }] }).spec?.ports?.[0]?.targetPort, 'http');
});

test('a load balancer without a word on it forwards with its own address', () => {
  const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'a.b' }] } };
  assert.deepEqual(kind.setDefaults({ ...given({ type: 'LoadBalancer' }), status }).status?.loadBalancer?.ingress, [
    { ip: '1.2.3.4', ipMode: 'VIP' },
    { hostname: 'a.b' },
  ]);
});

test('clusterIP stands for clusterIPs, never the other way round', () => {
  assert.deepEqual(given({ clusterIP: '10.96.0.7' }).spec?.clusterIPs, ['10.96.0.7']);
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
  assert.deepEqual(kind.validate({ ...given({}), metadata: { ...metadata, name: '1a' } }), []);
  assert.match(problemText(kind.validate({ ...given({}), metadata: { ...metadata, name: 'a.b' } })[0] ?? assert.fail()), /must not contain dots$/);
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

test('given a stored Service, a PUT without addresses and ports keeps them; a port is known by its name', () => {
  const before = stored({
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30_009,
    ports: [
      { name: 'a', port: 80, nodePort: 30_001 },
      { name: 'b', port: 81, nodePort: 30_002 },
    ],
  });
  const next = updated(
    {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [
        { name: 'a', port: 8080 },
        { name: 'other', port: 81 },
      ],
    },
    before,
  );
  assert.equal(next.spec?.clusterIP, '10.96.0.7');
  assert.deepEqual(next.spec?.clusterIPs, ['10.96.0.7']);
  assert.equal(next.spec?.healthCheckNodePort, 30_009);
  assert.deepEqual(
    next.spec?.ports?.map(({ nodePort }) => nodePort),
    [30_001, undefined],
  );
});

test('a node port that another port has now is not kept', () => {
  const before = stored({
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80, nodePort: 30_001 },
      { name: 'b', port: 81, nodePort: 30_002 },
    ],
  });
  const next = updated(
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81, nodePort: 30_001 },
      ],
    },
    before,
  );
  assert.deepEqual(
    next.spec?.ports?.map(({ nodePort }) => nodePort),
    [undefined, 30_001],
  );
});

test('what the new type has no use for goes, unless it was touched', () => {
  const before = stored({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] });
  const asNext = (spec: ServiceSpec) => kind.prepareUpdate(kind.setDefaults({ ...before, spec: { ...before.spec, ...spec } }), before);
  const internal = asNext({ type: 'ClusterIP' }).spec;
  assert.equal(internal?.externalTrafficPolicy, undefined);
  assert.equal(internal?.ports?.[0]?.nodePort, undefined);
  assert.equal(internal?.clusterIP, '10.96.0.7');
  const outside = asNext({ type: 'ExternalName', externalName: 'a.b' });
  for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'externalTrafficPolicy'] as const) {
    assert.equal(outside.spec?.[key], undefined, key);
  }
  assert.deepEqual(kind.validateUpdate(outside, before), []);
  const touched = asNext({ type: 'ClusterIP', ports: [{ port: 80, nodePort: 30_005 }] });
  assert.deepEqual(kind.validateUpdate(touched, before).map(problemText), [
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ]);
});

test('the first address, and whether there is one, may not change', () => {
  const before = stored({});
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.8' }, before), [
    'spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset',
    'spec.clusterIPs: Required value',
  ]);
  const held = { clusterIPs: before.spec?.clusterIPs };
  assert.deepEqual(updateProblems({ ...held, clusterIP: '10.96.0.8' }, before), [
    'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
  ]);
  assert.deepEqual(updateProblems({ ...held, clusterIP: 'None' }, before), ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set']);
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.7', clusterIPs: ['None'] }, stored({ clusterIP: 'None' })), [
    'spec.clusterIPs[0]: Invalid value: ["10.96.0.7"]: may not change once set',
  ]);
  assert.deepEqual(updateProblems({}, before), []);
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.9' }, given({ type: 'ExternalName', externalName: 'a.b' })), []);
});

test('the second address goes with a word of the policy only', () => {
  const both = ['10.96.0.7', 'fd00::7'];
  const before = stored({ clusterIPs: both, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' });
  const one = { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'] };
  assert.deepEqual(updateProblems({ ...one, ipFamilyPolicy: 'SingleStack' }, before), []);
  assert.deepEqual(updateProblems({ ...one, ipFamilyPolicy: 'PreferDualStack' }, before), [
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
  ]);
});

test('a class and a health port stay as they are', () => {
  const before = stored({ type: 'LoadBalancer', loadBalancerClass: 'a.b/c', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_009 });
  const changed = { type: 'LoadBalancer', loadBalancerClass: 'd', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_010 };
  assert.deepEqual(updateProblems(changed, before), [
    'spec.healthCheckNodePort: Forbidden: field is immutable',
    'spec.loadBalancerClass: Invalid value: "d": may not change once set',
  ]);
});

test('values of old are not judged again', () => {
  const before = stored({ externalIPs: ['010.0.0.1'], clusterIP: '10.96.000.7' });
  assert.deepEqual(updateProblems({ externalIPs: ['010.0.0.1'], clusterIP: '10.96.000.7' }, before), []);
  assert.deepEqual(updateProblems({ externalIPs: ['010.0.0.2'] }, before), [
    'spec.externalIPs[0]: Invalid value: "010.0.0.2": must not have leading 0s',
  ]);
});

test('a status has addresses of load balancers only', () => {
  const balancer = stored({ type: 'LoadBalancer' });
  const judged = (service: Service, ingress: object) =>
    kind.validateStatusUpdate({ ...service, status: { loadBalancer: { ingress: [ingress] } } }, service).map(problemText);
  assert.deepEqual(judged(balancer, { ip: '1.2.3.4', ipMode: 'Proxy' }), []);
  assert.deepEqual(judged(stored({}), { ip: '1.2.3.4', ipMode: 'VIP' }), [
    "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
  ]);
  assert.deepEqual(judged(balancer, { ip: '1.2.3.4' }), [
    'status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set',
  ]);
  assert.deepEqual(judged(balancer, { hostname: '1.2.3.4', ipMode: 'VIP' }), [
    'status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set',
    'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ]);
});

test('whoever writes what has no effect is told so', () => {
  assert.deepEqual(
    kind.warnings(given({ clusterIP: 'None', loadBalancerIP: '1.2.3.4', externalIPs: ['1.2.3.4'], sessionAffinity: 'ClientIP' }), undefined),
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
  );
  assert.deepEqual(kind.warnings(given({ externalName: 'a', trafficDistribution: 'PreferClose', externalIPs: ['FD00::1'] }), undefined), [
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
  assert.deepEqual(cells(stored({ selector: { b: '2', a: '1' } })), ['web', 'ClusterIP', '10.96.0.7', '<none>', '80/TCP', '60s', 'a=1,b=2']);
  const several = {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80, nodePort: 30_001 },
      { name: 'b', port: 53, protocol: 'UDP' },
    ],
  };
  assert.deepEqual(cells(stored({ ...several, externalIPs: ['1.2.3.4', '1.2.3.5'] })).slice(3, 5), ['1.2.3.4,1.2.3.5', '80:30001/TCP,53/UDP']);
  assert.deepEqual(cells(stored({ type: 'LoadBalancer' }))[3], '<pending>');
  const ingress = [{ ip: '1.2.3.4' }, { hostname: 'a-very-long-name.of-a-load-balancer' }];
  assert.deepEqual(
    cells({ ...stored({ type: 'LoadBalancer', externalIPs: ['9.9.9.9'] }), status: { loadBalancer: { ingress } } })[3],
    '1.2.3.4,a-very-long-name.of-a-load-balancer,9.9.9.9',
  );
  assert.deepEqual(cells(given({ type: 'ExternalName', externalName: 'a.b', ports: [] })).slice(1, 5), ['ExternalName', '<none>', 'a.b', '<none>']);
});
