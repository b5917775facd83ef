import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { service as kind } from '#api/kinds/core/v1/service.ts';
import { aNewService, aServiceWith, aStoredService } from '#api/testing/services.ts';
import type { Service, ServiceSpec } from '#api/types/core-v1.ts';

const updated = (next: ServiceSpec, previous: Service) => kind.prepareUpdate(aServiceWith(next), previous);
const updateProblems = (next: ServiceSpec, previous: Service) => kind.validateUpdate(updated(next, previous), previous).map(problemText);

test('given a stored Service, a PUT without addresses and ports keeps them; a port is known by its name', () => {
  const before = aStoredService({
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
  const before = aStoredService({
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
  const before = aStoredService({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] });
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
  const before = aStoredService({});
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.8' }, before), [
    'spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset',
    'spec.clusterIPs: Required value',
  ]);
  const held = { clusterIPs: before.spec?.clusterIPs };
  assert.deepEqual(updateProblems({ ...held, clusterIP: '10.96.0.8' }, before), [
    'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
  ]);
  assert.deepEqual(updateProblems({ ...held, clusterIP: 'None' }, before), ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set']);
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.7', clusterIPs: ['None'] }, aStoredService({ clusterIP: 'None' })), [
    'spec.clusterIPs[0]: Invalid value: ["10.96.0.7"]: may not change once set',
  ]);
  assert.deepEqual(updateProblems({}, before), []);
  assert.deepEqual(updateProblems({ clusterIP: '10.96.0.9' }, aNewService({ type: 'ExternalName', externalName: 'a.b' })), []);
});

test('the second address goes with a word of the policy only', () => {
  const both = ['10.96.0.7', 'fd00::7'];
  const before = aStoredService({ clusterIPs: both, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' });
  const one = { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'] };
  assert.deepEqual(updateProblems({ ...one, ipFamilyPolicy: 'SingleStack' }, before), []);
  assert.deepEqual(updateProblems({ ...one, ipFamilyPolicy: 'PreferDualStack' }, before), [
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
  ]);
});

test('a class and a health port stay as they are', () => {
  const before = aStoredService({ type: 'LoadBalancer', loadBalancerClass: 'a.b/c', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_009 });
  const changed = { type: 'LoadBalancer', loadBalancerClass: 'd', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_010 };
  assert.deepEqual(updateProblems(changed, before), [
    'spec.healthCheckNodePort: Forbidden: field is immutable',
    'spec.loadBalancerClass: Invalid value: "d": may not change once set',
  ]);
});

test('values of old are not judged again', () => {
  const before = aStoredService({ externalIPs: ['010.0.0.1'], clusterIP: '10.96.000.7' });
  assert.deepEqual(updateProblems({ externalIPs: ['010.0.0.1'], clusterIP: '10.96.000.7' }, before), []);
  assert.deepEqual(updateProblems({ externalIPs: ['010.0.0.2'] }, before), [
    'spec.externalIPs[0]: Invalid value: "010.0.0.2": must not have leading 0s',
  ]);
});

test('a status has addresses of load balancers only', () => {
  const balancer = aStoredService({ type: 'LoadBalancer' });
  const judged = (service: Service, ingress: object) =>
    kind.validateStatusUpdate({ ...service, status: { loadBalancer: { ingress: [ingress] } } }, service).map(problemText);
  assert.deepEqual(judged(balancer, { ip: '1.2.3.4', ipMode: 'Proxy' }), []);
  assert.deepEqual(judged(aStoredService({}), { ip: '1.2.3.4', ipMode: 'VIP' }), [
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
