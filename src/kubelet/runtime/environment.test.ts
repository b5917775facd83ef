import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aContainer, aPod, aSecret, type DeepPartial } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { ContainerConfigError, environment, type NamedObjects, readNamedObjects } from './environment.ts';

const { signal } = new AbortController();
const nothing: NamedObjects = { configMaps: new Map(), secrets: new Map(), envFiles: new Map() };
const services = new Map([
  ['DB_SERVICE_HOST', '10.96.0.7'],
  ['MINE', 'theirs'],
]);
const both: NamedObjects = {
  configMaps: new Map([['settings', aConfigMap({ data: { key: 'value', other: 'x' } })]]),
  secrets: new Map([['secret', aSecret({ data: { key: Buffer.from('hidden').toString('base64') } })]]),
  envFiles: new Map([['shared/vars.env', { path: '/volume/vars.env', variables: new Map([['KEY', 'from file']]) }]]),
};

function envOf(container: DeepPartial<Container>, named: NamedObjects = both, told: ReadonlyMap<string, string> = new Map()): Record<string, string> {
  const pod = aPod({ metadata: { labels: { app: 'web' }, annotations: { note: 'n' } }, spec: { nodeName: 'node-1' } });
  const input = {
    pod,
    container: aContainer(container),
    podIPs: ['10.0.0.2', 'fd00::2'],
    hostIPs: ['192.168.0.1'],
    allocatable: { cpu: '4', memory: '8Gi' },
    services: told,
  };
  return Object.fromEntries(environment(input, named));
}

test('values see what was declared before them, and nothing else', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)$(C)$$(A)' },
    { name: 'C', value: '3' },
  ];
  assert.deepEqual(envOf({ env }), { A: '1', B: '1$(C)$(A)', C: '3' });
});

test('whole objects come first, with their prefix; single variables replace them', () => {
  const envFrom = [{ prefix: 'P_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'secret' } }];
  assert.deepEqual(envOf({ envFrom, env: [{ name: 'key', value: 'mine' }] }), { P_key: 'value', P_other: 'x', key: 'mine' });
});

test('fields of the pod, and resources in units of the divisor, rounded up', () => {
  const fields = [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    "metadata.labels['app']",
    "metadata.annotations['note']",
    'spec.nodeName',
    'spec.serviceAccountName',
    'status.podIP',
    'status.podIPs',
    'status.hostIP',
  ];
  const env = fields.map((fieldPath, index) => ({ name: `F${index}`, valueFrom: { fieldRef: { fieldPath } } }));
  assert.deepEqual(Object.values(envOf({ env })), [
    'web',
    'default',
    'uid-of-web',
    'web',
    'n',
    'node-1',
    'default',
    '10.0.0.2',
    '10.0.0.2,fd00::2',
    '192.168.0.1',
  ]);
  const resource = (name: string, resource: string, divisor?: string) => ({ name, valueFrom: { resourceFieldRef: { resource, divisor } } });
  const resources = { limits: { memory: '100Mi' }, requests: { cpu: '250m' } };
  const wanted = [
    resource('CPU', 'requests.cpu'),
    resource('MILLI', 'requests.cpu', '1m'),
    resource('MEM', 'limits.memory', '1Mi'),
    resource('ALL', 'limits.cpu'),
  ];
  assert.deepEqual(envOf({ resources, env: wanted }), { CPU: '1', MILLI: '250', MEM: '100', ALL: '4' });
});

test('keys of objects; what is optional and missing is left out', () => {
  const env = [
    { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: 'secret', key: 'key' } } },
    { name: 'C', valueFrom: { secretKeyRef: { name: 'none', key: 'key', optional: true } } },
    { name: 'D', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
  ];
  assert.deepEqual(envOf({ env }), { A: 'value', B: 'hidden' });
});

test('what is missing and not optional is told in upstream’s words, with the object whose coming mends it', () => {
  const failureOf = (container: DeepPartial<Container>, named?: NamedObjects) => {
    try {
      envOf(container, named);
    } catch (error) {
      if (error instanceof ContainerConfigError) return [error.message, error.wakeOn];
    }
    return undefined;
  };
  const missingKey = { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none' } } }] };
  const missingSecret = { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'key' } } }] };
  assert.deepEqual(failureOf({ envFrom: [{ configMapRef: { name: 'settings' } }] }, nothing), [
    'configmap "settings" not found',
    'configmap/default/settings',
  ]);
  assert.deepEqual(failureOf(missingKey), ["couldn't find key none in ConfigMap default/settings", 'configmap/default/settings']);
  assert.deepEqual(failureOf(missingSecret), ['secret "none" not found', 'secret/default/none']);
});

test('every object that is named is read once', async () => {
  const read: string[] = [];
  const objects = {
    configMap: async (namespace: string, name: string) => void read.push(`configmap ${namespace}/${name}`) as undefined,
    secret: async (namespace: string, name: string) => void read.push(`secret ${namespace}/${name}`) as undefined,
    watch: () => () => undefined,
  };
  const env = [
    { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: 'secret', key: 'b' } } },
  ];
  const container = aContainer({ env, envFrom: [{ configMapRef: { name: 'settings' } }] });
  await readNamedObjects(aPod(), container, new Map(), { objects, files: createMemoryFiles(new MemoryTree()) }, signal);
  assert.deepEqual(read.sort(), ['configmap default/settings', 'secret default/secret']);
});

test('variables of Services can be used by others, and a declared one of the same name goes before', () => {
  const env = [
    { name: 'URL', value: 'http://$(DB_SERVICE_HOST)' },
    { name: 'MINE', value: 'mine' },
  ];
  assert.deepEqual(envOf({ env }, both, services), { URL: 'http://10.96.0.7', MINE: 'mine', DB_SERVICE_HOST: '10.96.0.7' });
});

test('a limit of 0 counts as none; a pod’s own limit goes before the node', () => {
  const env = [{ name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }];
  assert.equal(envOf({ resources: { limits: { cpu: '0' } }, env })['CPU'], '4');
  const pod = aPod({ spec: { resources: { limits: { cpu: '2' } } } });
  const input = { pod, container: aContainer({ env }), podIPs: [], hostIPs: [], allocatable: { cpu: '4' }, services: new Map() };
  assert.equal(environment(input, nothing).get('CPU'), '2');
});

test('a key of a file; one that the file has not is left out when optional, else refused', () => {
  const file = (key: string, optional?: boolean) => ({
    env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'shared', path: 'vars.env', key, optional } } }],
  });
  assert.deepEqual([envOf(file('KEY')), envOf(file('NONE', true))], [{ A: 'from file' }, {}]);
  assert.throws(() => envOf(file('NONE')), { message: 'environment variable key "NONE" not found in file "/volume/vars.env"' });
});

test('a file of variables is read from its volume, and a bad, missing or escaping one refuses the container', async () => {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/volume', 0o777, signal);
  await files.write('/volume/good', "KEY='value'\n", 0o644, signal);
  await files.write('/volume/bad', 'KEY=value\n', 0o644, signal);
  await files.write('/secret', "KEY='host'\n", 0o600, signal);
  await files.link('/secret', '/volume/link', signal);
  const objects = { configMap: async () => undefined, secret: async () => undefined, watch: () => () => undefined };
  const read = async (path: string, volumeName = 'shared') => {
    const container = aContainer({ env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName, path, key: 'KEY' } } }] });
    return await readNamedObjects(aPod(), container, new Map([['shared', { hostPath: '/volume' }]]), { objects, files }, signal);
  };
  assert.equal((await read('good')).envFiles.get('shared/good')?.variables.get('KEY'), 'value');
  for (const path of ['bad', 'none', 'link'])
    await assert.rejects(read(path), { code: 'CONTAINER_CONFIG', message: "couldn't parse env file" }, path);
  await assert.rejects(read('good', 'other'), { message: 'cannot find the volume "other" referenced by FileKeyRef' });
});
