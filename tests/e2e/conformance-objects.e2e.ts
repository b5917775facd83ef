import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubernetesObject, KubernetesObjectApi, PatchStrategy, V1MicroTime, type V1ObjectMeta } from '@kubernetes/client-node';
import { requestsTo } from '../support/requests.ts';
import { startCluster } from '../support/start-cluster.ts';

/** What upstream’s conformance suite does with the kinds that are only data, done with the JavaScript client; each has the name of upstream’s test. */
const cluster = await startCluster({ nodes: 0, upFlags: ['--timing', 'serviceCidrGraceMs=1000'] });
const api = await requestsTo(cluster.kubeconfig);
const objects = KubernetesObjectApi.makeApiClient(api.config);

interface Life {
  readonly title: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly clusterWide?: true;
  /** The fields besides the metadata. */
  readonly fields: (index: number) => object;
  readonly name?: (index: number) => string;
  /** A condition may be written through /status, and stays. */
  readonly conditions?: true;
  /** Fields that an update may not touch, with what it then says. */
  readonly immutable?: { readonly fields: object; readonly message: RegExp };
  readonly mutable?: object;
}

const backend = { service: { name: 'default-backend', port: { number: 80 } } };
const template = { spec: { containers: [{ name: 'nginx', image: 'nginx' }] } };
const lives: readonly Life[] = [
  {
    ...{ title: 'API priority and fairness should support FlowSchema API operations', kind: 'FlowSchema', plural: 'flowschemas' },
    ...{ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', clusterWide: true, conditions: true },
    fields: () => ({
      spec: {
        matchingPrecedence: 10000,
        priorityLevelConfiguration: { name: 'global-default' },
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          { subjects: [{ kind: 'User', user: { name: 'example-e2e-flow-schema' } }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] },
        ],
      },
    }),
    mutable: { spec: { matchingPrecedence: 9999 } },
  },
  {
    ...{ title: 'API priority and fairness should support PriorityLevelConfiguration API operations', kind: 'PriorityLevelConfiguration' },
    ...{ plural: 'prioritylevelconfigurations', apiVersion: 'flowcontrol.apiserver.k8s.io/v1', clusterWide: true, conditions: true },
    fields: () => ({ spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, limitResponse: { type: 'Reject' } } } }),
    mutable: { spec: { limited: { nominalConcurrencyShares: 4 } } },
  },
  {
    ...{ title: 'LimitRange should list, patch and delete a LimitRange by collection', kind: 'LimitRange', plural: 'limitranges', apiVersion: 'v1' },
    fields: () => ({
      spec: { limits: [{ type: 'Container', min: { cpu: '50m' }, max: { cpu: '500m' }, defaultRequest: { cpu: '50m' }, default: { cpu: '500m' } }] },
    }),
    mutable: { spec: { limits: [{ type: 'Container', max: { cpu: '600m' } }] } },
  },
  {
    ...{ title: 'PriorityClass endpoints verify PriorityClass endpoints can be operated with different HTTP methods', kind: 'PriorityClass' },
    ...{ plural: 'priorityclasses', apiVersion: 'scheduling.k8s.io/v1', clusterWide: true },
    fields: (index) => ({ value: 10 + index }),
    mutable: { description: 'updated description' },
    immutable: { fields: { value: 9 }, message: /value: Forbidden: may not be changed in an update\.?/ },
  },
  {
    ...{ title: 'Lease lease API should be available', kind: 'Lease', plural: 'leases', apiVersion: 'coordination.k8s.io/v1' },
    fields: () => ({
      spec: {
        ...{ holderIdentity: 'holder', leaseDurationSeconds: 30, leaseTransitions: 0 },
        ...{ acquireTime: new V1MicroTime('2030-01-01T00:00:00.123456Z'), renewTime: new V1MicroTime('2030-01-01T00:00:05.000000Z') },
      },
    }),
    mutable: { spec: { holderIdentity: 'holder2', leaseTransitions: 1 } },
  },
  {
    ...{ title: 'ControllerRevision should manage the lifecycle of a ControllerRevision', kind: 'ControllerRevision' },
    ...{ plural: 'controllerrevisions', apiVersion: 'apps/v1' },
    fields: () => ({ revision: 1, data: { spec: { template, $patch: 'replace' } } }),
    mutable: { revision: 3 },
    immutable: { fields: { data: { other: true } }, message: /data: Invalid value: .*field is immutable/ },
  },
  {
    ...{ title: 'PodTemplates should run the lifecycle of PodTemplates', kind: 'PodTemplate', plural: 'podtemplates', apiVersion: 'v1' },
    fields: () => ({ template }),
    mutable: { template: { spec: { terminationGracePeriodSeconds: 5 } } },
  },
  {
    ...{ title: 'DisruptionController Listing PodDisruptionBudgets for all namespaces should list and delete a collection of PodDisruptionBudgets' },
    ...{ kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', apiVersion: 'policy/v1', conditions: true },
    fields: () => ({ spec: { selector: { matchLabels: { foo: 'bar' } }, minAvailable: 1 } }),
    mutable: { spec: { minAvailable: '60%' } },
  },
  {
    ...{ title: 'EndpointSlice should support creating EndpointSlice API operations', kind: 'EndpointSlice', plural: 'endpointslices' },
    apiVersion: 'discovery.k8s.io/v1',
    fields: () => ({ addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4', '5.6.7.8'] }] }),
    mutable: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    immutable: { fields: { addressType: 'FQDN' }, message: /addressType: Invalid value: "FQDN": field is immutable/ },
  },
  {
    ...{
      title: 'Ingress API should support creating Ingress API operations',
      kind: 'Ingress',
      plural: 'ingresses',
      apiVersion: 'networking.k8s.io/v1',
    },
    fields: () => ({
      spec: { defaultBackend: backend, rules: [{ host: 'foo.bar.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    }),
    mutable: { spec: { rules: [{ host: '*.bar.com' }] } },
  },
  {
    ...{ title: 'IngressClass API should support creating IngressClass API operations', kind: 'IngressClass', plural: 'ingressclasses' },
    ...{ apiVersion: 'networking.k8s.io/v1', clusterWide: true },
    fields: () => ({ spec: { controller: 'example.com/controller' } }),
    immutable: {
      fields: { spec: { controller: 'example.com/other' } },
      message: /spec\.controller: Invalid value: "example\.com\/other": field is immutable/,
    },
  },
  {
    ...{ title: 'Netpol API should support creating NetworkPolicy API operations', kind: 'NetworkPolicy', plural: 'networkpolicies' },
    apiVersion: 'networking.k8s.io/v1',
    fields: () => ({
      spec: {
        podSelector: { matchLabels: { 'pod-name': 'test-pod' } },
        ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: 80, endPort: 90 }] }],
      },
    }),
    mutable: { spec: { policyTypes: ['Ingress', 'Egress'] } },
  },
  {
    ...{ title: 'RuntimeClass should support RuntimeClasses API operations', kind: 'RuntimeClass', plural: 'runtimeclasses' },
    ...{ apiVersion: 'node.k8s.io/v1', clusterWide: true },
    fields: () => ({ handler: 'test-handler', overhead: { podFixed: { cpu: '10m' } } }),
    immutable: { fields: { handler: 'other' }, message: /handler: Invalid value: "other": field is immutable/ },
  },
  {
    ...{ title: 'ServiceCIDR and IPAddress API should support ServiceCIDR API operations', kind: 'ServiceCIDR', plural: 'servicecidrs' },
    ...{ apiVersion: 'networking.k8s.io/v1', clusterWide: true, conditions: true },
    fields: (index) => ({ spec: { cidrs: [`10.196.${index}.0/24`] } }),
    immutable: { fields: { spec: { cidrs: ['10.200.0.0/24'] } }, message: /spec\.cidrs(\[0\])?: Invalid value: .*field is immutable/ },
  },
  {
    ...{ title: 'ServiceCIDR and IPAddress API should support IPAddress API operations', kind: 'IPAddress', plural: 'ipaddresses' },
    ...{ apiVersion: 'networking.k8s.io/v1', clusterWide: true },
    name: (index) => `192.168.6.${index + 10}`,
    fields: () => ({ spec: { parentRef: { group: 'foo', resource: 'bars', namespace: 'default', name: 'baz' } } }),
    immutable: { fields: { spec: { parentRef: { name: 'other' } } }, message: /spec\.parentRef: Invalid value: .*field is immutable/ },
  },
  {
    ...{ title: 'CSINodes CSI Conformance should run through the lifecycle of a csinode', kind: 'CSINode', plural: 'csinodes' },
    ...{ apiVersion: 'storage.k8s.io/v1', clusterWide: true },
    fields: () => ({ spec: { drivers: [{ name: 'e2e-driver.example.com', nodeID: 'node-1', topologyKeys: ['example.com/zone'] }] } }),
    mutable: { spec: { drivers: [] } },
  },
  {
    ...{ title: 'StorageClasses CSI Conformance should run through the lifecycle of a StorageClass', kind: 'StorageClass', plural: 'storageclasses' },
    ...{ apiVersion: 'storage.k8s.io/v1', clusterWide: true },
    fields: () => ({ provisioner: 'e2e-fake-provisioner', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
    immutable: { fields: { provisioner: 'other' }, message: /provisioner: Forbidden: updates to provisioner are forbidden\./ },
  },
];

for (const life of lives) {
  test(life.title, async () => {
    const place = life.clusterWide ? {} : { namespace: 'default' };
    const { apiVersion, kind, plural } = life;
    const label = `e2e=${plural}`;
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    const all = `${root}/${plural}`;
    const own = life.clusterWide ? all : `${root}/namespaces/default/${plural}`;
    const selected = `labelSelector=${encodeURIComponent(label)}`;
    const make = (index: number) => {
      const name = life.name?.(index) ?? `${kind.toLowerCase()}-${index}`;
      return objects.create({ apiVersion, kind, metadata: { ...place, name, labels: { e2e: plural } }, ...life.fields(index) });
    };
    const made = metadataOf(await make(0));
    const header = { apiVersion, kind, metadata: { ...place, name: made.name } };
    await assert.rejects(make(0), { code: 409 });
    const listed = await objects.list(apiVersion, kind, place.namespace, undefined, undefined, undefined, undefined, label);
    const watched = api.watch(`${all}?watch=1&${selected}&resourceVersion=${listed.metadata?.resourceVersion}`, ({ type }) => type === 'DELETED');
    assert.deepEqual((await objects.read(header)).metadata?.uid, made.uid);
    const labelled = { ...header, metadata: { ...header.metadata, labels: { patched: 'yes' } } };
    for (const strategy of [PatchStrategy.StrategicMergePatch, PatchStrategy.MergePatch]) {
      const patched = await objects.patch(labelled, undefined, undefined, undefined, undefined, strategy);
      assert.deepEqual(patched.metadata?.labels, { e2e: plural, patched: 'yes' });
    }
    const read = await objects.read(header);
    const annotated = { ...read, metadata: { ...read.metadata, annotations: { updated: 'true' } } };
    const updated = metadataOf(await objects.replace(annotated));
    assert.deepEqual(updated.annotations, { updated: 'true' });
    await assert.rejects(objects.replace({ ...annotated, ...life.mutable }), { code: 409 }); // its version is old
    if (life.mutable !== undefined) {
      const changed = await objects.patch<KubernetesObject>(
        { ...header, ...life.mutable },
        undefined,
        undefined,
        undefined,
        undefined,
        PatchStrategy.MergePatch,
      );
      assert.notEqual(changed.metadata?.resourceVersion, updated.resourceVersion);
    }
    if (life.immutable !== undefined) {
      const body = { ...header, ...life.immutable.fields };
      const answer = await api.call('PATCH', `${own}/${made.name}`, { headers: { 'content-type': PatchStrategy.MergePatch }, body });
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, life.immutable.message);
    }
    if (life.conditions) await writeStatus(`${own}/${made.name}/status`);
    await objects.delete(header);
    const events = await watched;
    assert.ok(events.some(({ type, object }) => type === 'MODIFIED' && object.metadata.annotations?.updated === 'true'));
    await assert.rejects(objects.read(header), { code: 404 });
    await Promise.all([make(1), make(2), make(3)]);
    assert.equal((await api.call('GET', `${all}?${selected}`)).body.items.length, 3);
    const collection = await api.call('DELETE', `${own}?${selected}`);
    assert.equal(collection.status, 200, collection.text);
    for (;;) {
      const { body } = await api.call('GET', `${own}?${selected}`); // some have a finalizer that a controller takes away
      if (body.items.length === 0) break;
      await api.watch(
        `${own}?watch=1&${selected}&timeoutSeconds=10&resourceVersion=${body.metadata.resourceVersion}`,
        ({ type }) => type === 'DELETED',
      );
    }
  });
}

function metadataOf({ metadata }: KubernetesObject): V1ObjectMeta & { readonly name: string } {
  assert.ok(metadata?.name !== undefined);
  return { ...metadata, name: metadata.name };
}

async function writeStatus(path: string): Promise<void> {
  const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'set by a test', lastTransitionTime: '2030-01-01T00:00:00Z' });
  const typesOf = (body: { readonly status: { readonly conditions: readonly { readonly type: string }[] } }) =>
    body.status.conditions.map(({ type }) => type);
  const body = { metadata: { annotations: { patchedstatus: 'true' } }, status: { conditions: [condition('PatchStatusFailed')] } };
  const patched = await api.call('PATCH', path, { headers: { 'content-type': PatchStrategy.MergePatch }, body });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(patched.body.metadata.annotations.patchedstatus, 'true');
  assert.deepEqual(typesOf(patched.body), ['PatchStatusFailed']);
  const append = async () => {
    const { body: now } = await api.call('GET', path);
    const conditions = [...(now.status.conditions ?? []), condition('UpdateStatusFailed')];
    return await api.call('PUT', path, { body: { ...now, status: { ...now.status, conditions } } });
  };
  let updated = await append();
  while (updated.status === 409) updated = await append(); // a controller wrote its own in between
  assert.equal(updated.status, 200, updated.text);
  assert.ok(typesOf(updated.body).includes('UpdateStatusFailed'));
}
