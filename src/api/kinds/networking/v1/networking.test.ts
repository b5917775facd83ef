import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Ingress, IngressSpec, NetworkPolicySpec } from '#api/types/networking-v1.ts';
import { ingress } from './ingress.ts';
import { ingressClass } from './ingress-class.ts';
import { ipAddress } from './ip-address.ts';
import { networkPolicy } from './network-policy.ts';
import { serviceCidr } from './service-cidr.ts';

const nowMs = Date.parse('2026-01-02T03:05:05Z');
const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };
const { namespace: _, ...clusterMetadata } = metadata;

function anObject<T extends KubeObject>(kind: Kind<T>, fields: object, name = 'a'): T {
  const meta = kind.scope === 'Namespaced' ? metadata : clusterMetadata;
  return kind.setDefaults({ apiVersion: 'networking.k8s.io/v1', kind: kind.kind, metadata: { ...meta, name }, ...fields } as unknown as T); // a test gives what the kind takes
}
const problems = <T extends KubeObject>(kind: Kind<T>, fields: object, name?: string) => kind.validate(anObject(kind, fields, name)).map(problemText);
const changed = <T extends KubeObject>(kind: Kind<T>, next: object, previous: object) =>
  kind.validateUpdate(anObject(kind, next), anObject(kind, previous)).map(problemText);
const cells = <T extends KubeObject>(kind: Kind<T>, object: T) => kind.columns.map((column) => column.cell(object, nowMs));
const generationAfter = <T extends KubeObject>(kind: Kind<T>, next: object, previous: object) =>
  kind.prepareUpdate(anObject(kind, next), kind.prepareCreate(anObject(kind, previous))).metadata.generation;

const service = { name: 'web', port: { number: 80 } };
const backend = { service };
const withPaths = (...paths: readonly object[]) => ({ spec: { rules: [{ host: 'a.b', http: { paths } }] } });
const path = { path: '/', pathType: 'Prefix', backend };

const badIngresses: readonly (readonly [what: string, fields: object, ...problems: readonly string[]])[] = [
  ['neither rules nor a backend', { spec: {} }, 'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
  ['a rule without paths', withPaths(), 'spec.rules[0].http.paths: Required value'],
  ['a path without a type', withPaths({ path: '/', backend }), 'spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
  [
    'an unknown type of path',
    withPaths({ ...path, pathType: 'X' }),
    'spec.rules[0].http.paths[0].pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"',
  ],
  ['a relative path', withPaths({ ...path, path: 'a' }), 'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'],
  ['a double slash', withPaths({ ...path, path: '/a//b' }), `spec.rules[0].http.paths[0].path: Invalid value: "/a//b": must not contain '//'`],
  ['a way up', withPaths({ ...path, path: '/a/..' }), `spec.rules[0].http.paths[0].path: Invalid value: "/a/..": cannot end with '/..'`],
  ['a hidden slash', withPaths({ ...path, path: '/a%2Fb' }), `spec.rules[0].http.paths[0].path: Invalid value: "/a%2Fb": must not contain '%2F'`],
  [
    'no backend',
    withPaths({ ...path, backend: {} }),
    'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
  ],
  [
    'two backends',
    { spec: { defaultBackend: { service, resource: { kind: 'K', name: 'n' } } } },
    'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
  ],
  ['no port', { spec: { defaultBackend: { service: { name: 'a' } } } }, 'spec.defaultBackend: Required value: port name or number is required'],
  [
    'two ports',
    { spec: { defaultBackend: { service: { name: 'a', port: { name: 'b', number: 1 } } } } },
    'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
  ],
  [
    'a service without a name',
    { spec: { defaultBackend: { service: { port: { number: 1 } } } } },
    'spec.defaultBackend.service.name: Required value',
  ],
  [
    'an address as host',
    { spec: { rules: [{ host: '1.2.3.4' }] } },
    'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ],
];
for (const [what, fields, ...texts] of badIngresses) {
  test(`an Ingress may not have ${what}`, () => assert.deepEqual(problems(ingress, fields), texts));
}

test('an Ingress may have a wildcard as the first label of a host only', () => {
  const host = (text: string) => problems(ingress, { spec: { rules: [{ host: text }], tls: [{ hosts: [text] }] } });
  assert.deepEqual(host('*.a.b'), []);
  const [first, second] = host('a.*.b');
  assert.match(first ?? '', /^spec\.rules\[0\]\.host: Invalid value: "a\.\*\.b": a wildcard DNS-1123 subdomain must start with '\*\.', followed by/);
  assert.match(second ?? '', /^spec\.tls\[0\]\.hosts\[0\]: /);
});

test('an Ingress may have an empty path where its controller says what that is', () => {
  assert.deepEqual(problems(ingress, withPaths({ pathType: 'ImplementationSpecific', backend })), []);
  assert.deepEqual(problems(ingress, withPaths({ pathType: 'Exact', backend })), [
    'spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path',
  ]);
});

test('the class of a new Ingress is that of its annotation, which is deprecated', () => {
  const object = anObject(ingress, { spec: { defaultBackend: backend, ingressClassName: 'x' } });
  const annotated: Ingress = { ...object, metadata: { ...metadata, annotations: { 'kubernetes.io/ingress.class': 'y' } } };
  assert.deepEqual(ingress.validate(annotated).map(problemText), [
    'annotations.kubernetes.io/ingress.class: Invalid value: "y": must match `ingressClassName` when both are specified',
  ]);
  assert.deepEqual(ingress.validateUpdate(annotated, annotated), []);
  assert.deepEqual(ingress.warnings(annotated, undefined), [
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
});

test('the generation of an Ingress grows with its spec', () => {
  assert.equal(ingress.prepareCreate(anObject(ingress, withPaths(path))).metadata.generation, 1);
  assert.equal(generationAfter(ingress, withPaths({ ...path, path: '/b' }), withPaths(path)), 2);
  assert.equal(generationAfter(ingress, { ...withPaths(path), status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } }, withPaths(path)), 1);
});

test('a status of an Ingress has addresses and names', () => {
  const object = anObject(ingress, withPaths(path));
  const judged = (item: object) =>
    ingress.validateStatusUpdate({ ...object, status: { loadBalancer: { ingress: [item] } } }, object).map(problemText);
  assert.deepEqual(judged({ ip: '1.2.3.4', hostname: 'a.b' }), []);
  assert.deepEqual(judged({ ip: '1.2.3' }), [
    'status.loadBalancer.ingress[0].ip: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
  assert.deepEqual(judged({ hostname: '1.2.3.4' }), [
    'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ]);
});

test('rows of Ingresses show hosts, addresses and ports', () => {
  const row = (spec: IngressSpec, status: Ingress['status'] = { loadBalancer: {} }) =>
    cells(ingress, { ...anObject(ingress, { spec }), status }).slice(1, 5);
  assert.deepEqual(row({ defaultBackend: backend }), ['<none>', '*', '', '80']);
  const hosts = (count: number) => Array.from({ length: count }, (_, index) => ({ host: `h${index}` }));
  const found = { loadBalancer: { ingress: [{ ip: '2.2.2.2' }, { hostname: 'a-rather-long-name.example.com' }, { ip: '1.1.1.1' }] } };
  assert.deepEqual(row({ ingressClassName: 'c', rules: hosts(3), tls: [{}] }, found), [
    'c',
    'h0,h1,h2',
    '1.1.1.1,2.2.2.2,a-rather-long-name.example.com',
    '80, 443',
  ]);
  assert.equal(row({ rules: hosts(5) })[1], 'h0,h1,h2 + 2 more...');
  assert.equal(row({ rules: [{}, ...hosts(2), {}] })[1], 'h0,h1');
});

test('an IngressClass has a controller with a domain, for good', () => {
  const spec = (part: object) => ({ spec: { controller: 'a.b/c', ...part } });
  assert.deepEqual(problems(ingressClass, spec({})), []);
  assert.deepEqual(problems(ingressClass, { spec: {} }), ['spec.controller: Required value']);
  assert.deepEqual(problems(ingressClass, spec({ controller: 'c' })), [
    'spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")',
  ]);
  assert.deepEqual(problems(ingressClass, spec({ controller: `a/${'b'.repeat(249)}` })), [
    'spec.controller: Too long: may not be more than 250 bytes',
  ]);
  assert.deepEqual(changed(ingressClass, spec({ controller: 'a.b/d' }), spec({})), ['spec.controller: Invalid value: "a.b/d": field is immutable']);
});

test('parameters of an IngressClass are of the cluster unless they say otherwise', () => {
  const parameters = { apiGroup: 'k.example.com', kind: 'Lb', name: 'x' };
  const spec = (part: object) => ({ spec: { controller: 'a.b/c', parameters: { ...parameters, ...part } } });
  assert.equal(anObject(ingressClass, spec({})).spec?.parameters?.scope, 'Cluster');
  assert.deepEqual(problems(ingressClass, spec({ namespace: 'n' })), [
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ]);
  assert.deepEqual(problems(ingressClass, spec({ scope: 'Namespace' })), [
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ]);
  assert.deepEqual(problems(ingressClass, spec({ scope: 'X', kind: '' })), [
    'spec.parameters.kind: Required value',
    'spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"',
  ]);
  assert.deepEqual(cells(ingressClass, anObject(ingressClass, spec({}))), ['a', 'a.b/c', 'Lb.k.example.com/x', '60s']);
  assert.equal(cells(ingressClass, anObject(ingressClass, { spec: { controller: 'a.b/c' } }))[2], '<none>');
});

test('a NetworkPolicy is about what comes in, and about what goes out when it has rules for that', () => {
  const types = (spec: NetworkPolicySpec) => anObject(networkPolicy, { spec }).spec?.policyTypes;
  assert.deepEqual(types({}), ['Ingress']);
  assert.deepEqual(types({ egress: [{}] }), ['Ingress', 'Egress']);
  assert.deepEqual(types({ egress: [{}], policyTypes: ['Egress'] }), ['Egress']);
  const { spec } = anObject(networkPolicy, { spec: { ingress: [{ ports: [{ port: 80 }] }] } });
  assert.deepEqual([spec?.podSelector, spec?.ingress], [{}, [{ ports: [{ port: 80, protocol: 'TCP' }] }]]);
});

const badPolicies: readonly (readonly [what: string, spec: NetworkPolicySpec, ...problems: readonly string[]])[] = [
  ['an empty peer', { ingress: [{ from: [{}] }] }, 'spec.ingress[0].from[0]: Required value: must specify a peer'],
  [
    'a block beside a selector',
    { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] },
    'spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer',
  ],
  ['a block without a range', { ingress: [{ from: [{ ipBlock: { cidr: '' } }] }] }, 'spec.ingress[0].from[0].ipBlock.cidr: Required value'],
  [
    'an exception from outside',
    { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '11.0.0.0/16', '10.0.0.0/8'] } }] }] },
    'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
  ],
  [
    'an end before the start',
    { ingress: [{ ports: [{ port: 80, endPort: 79 }] }] },
    'spec.ingress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`',
  ],
  [
    'an end without a number',
    { ingress: [{ ports: [{ port: 'http', endPort: 81 }, { endPort: 82 }] }] },
    'spec.ingress[0].ports[0].endPort: Invalid value: 81: may not be specified when `port` is non-numeric',
    'spec.ingress[0].ports[1].endPort: Invalid value: 82: may not be specified when `port` is not specified',
  ],
  [
    'an unknown protocol',
    { ingress: [{ ports: [{ protocol: 'X' }] }] },
    'spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
  ],
  ['an unknown type', { policyTypes: ['X'] }, 'spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"'],
  [
    'three types',
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
    'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
  ],
  [
    'a bad selector',
    { podSelector: { matchExpressions: [{ key: 'a', operator: 'X' }] } },
    'spec.podSelector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator',
  ],
];
for (const [what, spec, ...texts] of badPolicies) {
  test(`a NetworkPolicy may not have ${what}`, () => assert.deepEqual(problems(networkPolicy, { spec }), texts));
}

test('ranges that a NetworkPolicy has are not judged again, wherever they go', () => {
  const block = { ipBlock: { cidr: '10.0.0.1/8' } };
  assert.deepEqual(changed(networkPolicy, { spec: { egress: [{ to: [block] }] } }, { spec: { ingress: [{ from: [block] }] } }), []);
  assert.deepEqual(changed(networkPolicy, { spec: { egress: [{ to: [block] }] } }, { spec: {} }), [
    'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
  ]);
  assert.equal(generationAfter(networkPolicy, { spec: { egress: [{}] } }, { spec: {} }), 2);
  const selected = anObject(networkPolicy, { spec: { podSelector: { matchLabels: { b: '2', a: '1' } } } });
  assert.deepEqual([cells(networkPolicy, selected)[1], cells(networkPolicy, anObject(networkPolicy, {}))[1]], ['a=1,b=2', '<none>']);
});

test('a range that is not written in the usual way is told', () => {
  const block = { ipBlock: { cidr: 'FD00::/16', except: ['FD00:1::/32', 'fd00:2::/32'] } };
  assert.deepEqual(networkPolicy.warnings(anObject(networkPolicy, { spec: { egress: [{ to: [block] }] } }), undefined), [
    'spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value "FD00::/16" should be in RFC 5952 canonical format ("fd00::/16")',
    'spec.egress[0].to[0].ipBlock.except[0]: IPv6 CIDR value "FD00:1::/32" should be in RFC 5952 canonical format ("fd00:1::/32")',
  ]);
});

test('an IPAddress has an address as its name and a parent for good', () => {
  const parentRef = { resource: 'services', namespace: 'default', name: 'web' };
  assert.deepEqual(problems(ipAddress, { spec: { parentRef } }, '10.96.0.1'), []);
  assert.deepEqual(problems(ipAddress, { spec: { parentRef } }, 'FD00::1'), [
    'metadata.name: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
  ]);
  assert.deepEqual(problems(ipAddress, { spec: { parentRef: {} } }, 'a'), [
    'metadata.name: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'spec.parentRef.resource: Required value',
    'spec.parentRef.name: Required value',
  ]);
  assert.deepEqual(problems(ipAddress, { spec: {} }, '::1'), ['spec.parentRef: Required value']);
  const other = { resource: 'services', namespace: 'default', name: 'other' };
  assert.deepEqual(changed(ipAddress, { spec: { parentRef: other } }, { spec: { parentRef } }), [
    `spec.parentRef: Invalid value: ${JSON.stringify(other)}: field is immutable`,
  ]);
  assert.equal(cells(ipAddress, anObject(ipAddress, { spec: { parentRef } }))[1], 'services/default/web');
  assert.equal(cells(ipAddress, anObject(ipAddress, { spec: { parentRef: { group: 'g.io', resource: 'r', name: 'n' } } }))[1], 'r.g.io/n');
});

test('a ServiceCIDR has one range a family, and may get the other one later', () => {
  const spec = (...cidrs: readonly string[]) => ({ spec: { cidrs } });
  assert.deepEqual(problems(serviceCidr, spec('10.0.0.0/24', 'fd00::/64')), []);
  assert.deepEqual(problems(serviceCidr, spec()), ['spec.cidrs: Required value: at least one CIDR required']);
  assert.deepEqual(problems(serviceCidr, spec('10.0.0.0/24', '10.0.1.0/24')), [
    'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
  ]);
  assert.deepEqual(problems(serviceCidr, spec('10.0.0.1/24')), [
    'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
  ]);
  assert.deepEqual(problems(serviceCidr, spec('FD00::/64')), ['spec.cidrs[0]: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")']);
  assert.deepEqual(changed(serviceCidr, spec('10.0.1.0/24'), spec('10.0.0.0/24')), [
    'spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable',
  ]);
  assert.deepEqual(changed(serviceCidr, spec('10.0.0.0/24', 'fd00::/64'), spec('10.0.0.0/24')), []);
  assert.deepEqual(changed(serviceCidr, spec('10.0.0.0/24'), spec('10.0.0.0/24', 'fd00::/64')), [
    'spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable',
  ]);
  assert.equal(cells(serviceCidr, anObject(serviceCidr, spec('10.0.0.0/24', 'fd00::/64')))[1], '10.0.0.0/24,fd00::/64');
});
