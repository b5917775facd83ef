import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KindRef } from '#api/kind.ts';
import { endpoints as endpointsKind } from '#api/kinds/core/v1/endpoints.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { endpointSlice as endpointSliceKind } from '#api/kinds/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '#api/object.ts';
import type { Endpoints } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { eventually } from '../support/control-plane.ts';
import { type Kubectl, type KubectlVersion, kubectlOf, outputOf } from '../support/kubectl.ts';

const serviceCIDRs = ['10.96.0.0/24'];
const deprecated = 'Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';

/** Single spaces, and ages that do not depend on the machine. */
function plain(table: string): readonly string[] {
  return table
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .trimEnd()
        .replaceAll(/\b\d+s\b/g, 'AGE')
        .replaceAll(/ {2,}/g, ' | '),
    );
}

for (const version of ['1.35', '1.20'] satisfies readonly KubectlVersion[]) {
  describe(`kubectl ${version}`, () => {
    let api: TestApiServer;
    let kubectl: Kubectl;
    const output = async (words: string, input = '') => outputOf(await kubectl(words, { input }));
    const table = async (words: string) => plain(await output(words));
    const refusal = async (words: string, input = '') => {
      const { code, stderr } = await kubectl(words, { input });
      assert.notEqual(code, 0, `kubectl ${words} should have failed`);
      return stderr.trim();
    };
    before(async () => {
      api = await startApiServer({ serviceCIDRs, advertisedAddress: '10.1.2.3' });
      kubectl = kubectlOf(api.kubeconfigFile, version);
    });
    after(() => api[Symbol.asyncDispose]());

    test('services of every type are created, shown and deleted', async () => {
      const manifest = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: dns, port: 53, protocol: UDP}]}
`;
      assert.equal(await output('create -f -', manifest), 'service/web created\n');
      await output('create service nodeport node --tcp=80:8080 --node-port=30080');
      await output('create service externalname other --external-name=example.com');
      await output('create service clusterip headless --clusterip=None');
      assert.deepEqual(await table('get services web node other headless -o wide'), [
        'NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE | SELECTOR',
        'web | ClusterIP | 10.96.0.10 | <none> | 80/TCP,53/UDP | AGE | app=web',
        `node | NodePort | ${await output('get svc node -o jsonpath={.spec.clusterIP}')} | <none> | 80:30080/TCP | AGE | app=node`,
        'other | ExternalName | <none> | example.com | <none> | AGE | app=other',
        'headless | ClusterIP | None | <none> | <none> | AGE | app=headless',
      ]);
      assert.deepEqual(await table('get svc --field-selector=spec.type=NodePort --no-headers'), [
        `node | NodePort | ${await output('get svc node -o jsonpath={.spec.clusterIP}')} | <none> | 80:30080/TCP | AGE`,
      ]);
      const described = await output('describe service node');
      for (const line of [/^Type: +NodePort$/m, /^NodePort: +80-8080 {2}30080\/TCP$/m, /^External Traffic Policy: +Cluster$/m]) {
        assert.match(described, line);
      }
      assert.match(await output('delete service headless'), /^service "headless" deleted/);
    });

    test('a service changes its type, keeps its address and is reached by its collection', async () => {
      await output('create service loadbalancer lb --tcp=80');
      assert.match((await table('get svc lb'))[1] ?? '', /^lb \| LoadBalancer \| 10\.96\.0\.\d+ \| <pending> \| 80:3\d{4}\/TCP \| AGE$/);
      const address = await output('get svc lb -o jsonpath={.spec.clusterIP}');
      await output('patch svc lb -p {"spec":{"type":"ClusterIP"}}');
      assert.deepEqual((await table('get svc lb'))[1], `lb | ClusterIP | ${address} | <none> | 80/TCP | AGE`);
      assert.match(
        await refusal('patch svc lb -p {"spec":{"clusterIP":"10.96.0.77"}}'),
        /spec\.clusterIPs\[0\]: Invalid value: \["10\.96\.0\.77"\]: may not change once set$/,
      );
      await output('label svc lb tier=front');
      await output('delete svc -l tier=front');
      assert.match(await refusal(`get ipaddresses ${address}`), /ipaddresses\.networking\.k8s\.io "10\.96\.0\.\d+" not found$/);
    });

    test('replace without address and ports keeps them, apply too', async () => {
      const spec = { type: 'NodePort', ports: [{ port: 80 }] };
      const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'kept' }, spec });
      const held = () => output('get svc kept -o jsonpath={.spec.clusterIP}/{.spec.ports[0].nodePort}');
      await output('apply -f -', manifest);
      const before = await held();
      assert.equal(await output('apply -f -', manifest), 'service/kept unchanged\n');
      await output('replace -f -', manifest);
      assert.equal(await held(), before);
    });

    test('expose makes a service of the labels of a deployment', async () => {
      await output('create deployment d --image=i');
      assert.equal(await output('expose deployment d --port=80 --target-port=8080 --name=exposed'), 'service/exposed exposed\n');
      assert.match(await output('describe svc exposed'), /^Selector: +app=d$/m);
    });

    test('what a service may not have is said in the words of upstream', async () => {
      const allocated = 'Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated';
      assert.equal(
        await refusal('create service clusterip taken --tcp=80 --clusterip=10.96.0.10'),
        `error: failed to create ClusterIP service: Service "taken" is invalid: spec.clusterIPs: ${allocated}`,
      );
      assert.match(
        await refusal('create service nodeport taken --tcp=80 --node-port=30080'),
        /spec\.ports\[0\]\.nodePort: Invalid value: 30080: provided port is already allocated$/,
      );
      assert.match(await refusal('create service clusterip a.b --tcp=80'), /metadata\.name: Invalid value: "a\.b": must not contain dots$/);
      assert.equal((await kubectl('create service externalname warned --external-name=a.b --dry-run=server')).stderr, '');
      const headless = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'w' }, spec: { clusterIP: 'None', loadBalancerIP: '1.2.3.4' } };
      const { stderr } = await kubectl('create -f - --dry-run=server', { input: JSON.stringify(headless) });
      assert.equal(stderr, 'Warning: spec.loadBalancerIP is ignored for headless services\n');
    });

    test('ingresses and their classes', async () => {
      const ingressClass = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'IngressClass',
        metadata: { name: 'edge' },
        spec: { controller: 'example.com/lb' },
      };
      await output('create -f -', JSON.stringify(ingressClass));
      await output('annotate ingressclass edge ingressclass.kubernetes.io/is-default-class=true');
      assert.deepEqual(await table('get ingressclasses'), ['NAME | CONTROLLER | PARAMETERS | AGE', 'edge | example.com/lb | <none> | AGE']);
      assert.equal(await output('create ingress site --rule=a.b/x*=web:80,tls=cert'), 'ingress.networking.k8s.io/site created\n');
      assert.deepEqual(await table('get ingress'), ['NAME | CLASS | HOSTS | ADDRESS | PORTS | AGE', 'site | edge | a.b | 80, 443 | AGE']);
      assert.match(await output('describe ingress site'), /cert terminates a\.b/);
      const patch = '[{"op":"replace","path":"/spec/rules/0/http/paths/0/path","value":"x"}]';
      assert.match(
        await refusal(`patch ingress site --type=json -p ${patch}`),
        /spec\.rules\[0\]\.http\.paths\[0\]\.path: Invalid value: "x": must be an absolute path$/,
      );
      assert.match(await output('delete ingress site'), /^ingress\.networking\.k8s\.io "site" deleted/);
      assert.match(await output('delete ingressclass edge'), /^ingressclass\.networking\.k8s\.io "edge" deleted/);
    });

    test('network policies', async () => {
      const policy = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'closed' },
        spec: { podSelector: { matchLabels: { app: 'web' } }, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
      };
      await output('create -f -', JSON.stringify(policy));
      assert.deepEqual(await table('get netpol'), ['NAME | POD-SELECTOR | AGE', 'closed | app=web | AGE']);
      assert.match(await output('describe networkpolicy closed'), /To Port: 80\/TCP[\s\S]*Policy Types: Ingress/);
      assert.match(await output('delete netpol closed'), /^networkpolicy\.networking\.k8s\.io "closed" deleted/);
    });

    test('quotas and limit ranges', async () => {
      assert.equal(await output('create quota q --hard=pods=2,limits.cpu=1 --scopes=NotTerminating'), 'resourcequota/q created\n');
      const status = '{"status":{"hard":{"pods":"2","limits.cpu":"1"},"used":{"pods":"1"}}}';
      const client = createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
      const before = JSON.parse(await output('get quota q -o json'));
      await client.updateStatus(quotaRef, { ...before, ...JSON.parse(status) }, new AbortController().signal);
      assert.deepEqual(await table('get quota'), ['NAME | REQUEST | LIMIT | AGE', 'q | pods: 1/2 | limits.cpu: 0/1 | AGE']);
      assert.match(await output('describe quota q'), /^pods +1 +2$/m);
      assert.match(
        await refusal('create quota bad --hard=apples=1'),
        /spec\.hard\[apples\]: Invalid value: "apples": must be a standard resource for quota\]?$/,
      );
      const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'lr' }, spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } };
      await output('create -f -', JSON.stringify(range));
      assert.deepEqual((await table('get limits'))[0], 'NAME | CREATED AT');
      assert.match(await output('describe limits lr'), /^Container +cpu +- +2 +2 +2 +-$/m);
      assert.match(await output('delete quota q'), /^resourcequota "q" deleted/);
      assert.match(await output('delete limits lr'), /^limitrange "lr" deleted/);
    });

    test('endpoints and slices that users make', async () => {
      const subsets = [{ addresses: ['1', '2', '3', '4'].map((last) => ({ ip: `10.1.1.${last}` })), ports: [{ port: 80 }] }];
      const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'own' }, subsets };
      const { stderr } = await kubectl('create -f -', { input: JSON.stringify(endpoints) });
      assert.equal(stderr.trim(), deprecated);
      const listed = await kubectl('get ep own');
      assert.deepEqual(plain(listed.stdout), ['NAME | ENDPOINTS | AGE', 'own | 10.1.1.1:80,10.1.1.2:80,10.1.1.3:80 + 1 more... | AGE']);
      assert.equal(listed.stderr.trim(), deprecated);
      const slice = {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'own-1' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.1.1'] }],
        ports: [{ name: 'http', port: 80 }],
      };
      await output('create -f -', JSON.stringify(slice));
      assert.deepEqual(await table('get endpointslices own-1'), [
        'NAME | ADDRESSTYPE | PORTS | ENDPOINTS | AGE',
        'own-1 | IPv4 | 80 | 10.1.1.1 | AGE',
      ]);
      assert.match(await output('delete endpointslice own-1'), /^endpointslice\.discovery\.k8s\.io "own-1" deleted/);
      assert.match(await output('delete endpoints own'), /^endpoints "own" deleted/);
    });

    test('the service, range and address of the server itself are shown', async () => {
      const port = api.port;
      assert.deepEqual(await table('get svc kubernetes'), [
        'NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE',
        'kubernetes | ClusterIP | 10.96.0.1 | <none> | 443/TCP | AGE',
      ]);
      assert.match(await output('describe svc kubernetes'), new RegExp(`^Endpoints: +10\\.1\\.2\\.3:${port}$`, 'm'));
      assert.deepEqual((await table('get endpointslice kubernetes'))[1], `kubernetes | IPv4 | ${port} | 10.1.2.3 | AGE`);
      assert.deepEqual(await table('get servicecidrs'), ['NAME | CIDRS | AGE', 'kubernetes | 10.96.0.0/24 | AGE']);
      assert.deepEqual(await table('get ip 10.96.0.1'), ['NAME | PARENTREF | AGE', '10.96.0.1 | services/default/kubernetes | AGE']);
    });
  });
}

const quotaRef = { group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', scope: 'Namespaced' } as const;
const kubernetes = { namespace: 'default', name: 'kubernetes' };

function adminOf(api: TestApiServer): Client {
  return createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
}

function exists<T extends KubeObject>(admin: Client, kind: KindRef<T>, signal: AbortSignal): Promise<T | undefined> {
  return eventually(admin, kind, kubernetes, (object) => object !== undefined, signal);
}

const addressesOf = (endpoints: Endpoints | undefined) => (endpoints?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));

test('default/kubernetes comes back when it is deleted or changed', { timeout: 20_000 }, async ({ signal }) => {
  await using api = await startApiServer({ serviceCIDRs, advertisedAddress: '10.1.2.3' });
  const admin = adminOf(api);
  for (const kind of [serviceKind, endpointsKind, endpointSliceKind] as const) {
    const before = await exists(admin, kind as KindRef, signal);
    await admin.delete(kind as KindRef, kubernetes, {}, signal);
    await eventually(admin, kind as KindRef, kubernetes, (object) => object !== undefined && object.metadata.uid !== before?.metadata.uid, signal);
  }
  const endpoints = await exists(admin, endpointsKind, signal);
  assert.ok(endpoints !== undefined);
  await admin.update(endpointsKind, { ...endpoints, subsets: [{ addresses: [{ ip: '10.9.9.9' }] }] }, signal);
  await eventually(admin, endpointsKind, kubernetes, (object) => addressesOf(object).join() === '10.1.2.3', signal);
});

test('servers of one store are endpoints as long as they live', { timeout: 20_000 }, async ({ signal }) => {
  const storage = createMemoryStorage(systemClock);
  await using one = await startApiServer({ serviceCIDRs, storage, advertisedAddress: '10.1.2.3' });
  const admin = adminOf(one);
  const see = (wanted: string) => eventually(admin, endpointsKind, kubernetes, (object) => addressesOf(object).join() === wanted, signal);
  {
    await using _ = await startApiServer({ serviceCIDRs, storage, advertisedAddress: '10.1.2.4' });
    await see('10.1.2.3,10.1.2.4');
  }
  await see('10.1.2.3');
});

test('fifty services through several kubectls at once have fifty addresses, then the range is full', { timeout: 60_000 }, async () => {
  await using api = await startApiServer({ serviceCIDRs: ['10.96.0.0/26'] });
  const kubectl = kubectlOf(api.kubeconfigFile);
  const manifests = (start: number) =>
    Array.from({ length: 10 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `s${start + index}` },
      spec: { ports: [{ port: 80 }] },
    }));
  const create = (start: number, count = 10) =>
    kubectl('create -f -', { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests(start).slice(0, count) }) });
  const results = await Promise.all([0, 10, 20, 30, 40].map((start) => create(start)));
  for (const result of results) outputOf(result);
  const listed = outputOf(await kubectl('get svc -o jsonpath={.items[*].spec.clusterIP}')).split(' ');
  assert.equal(new Set(listed).size, 51, 'fifty and that of the server');
  outputOf(await create(50)); // 61 of the 62 addresses
  outputOf(await create(60, 1));
  const { stderr } = await create(70, 1);
  assert.match(
    stderr,
    /\(InternalError\): error when creating "STDIN": Internal error occurred: failed to allocate a serviceIP for Service "s70": range is full$/m,
  );
});
