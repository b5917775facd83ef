import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aContainer, aPod, aSecret, type DeepPartial } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { ContainerConfigError, environment, type NamedObjects, readNamedObjects } from './environment.ts';

const nothing: NamedObjects = { configMaps: new Map(), secrets: new Map() };
const both: NamedObjects = {
  configMaps: new Map([['settings', aConfigMap({ data: { key: 'value', other: 'x' } })]]),
  secrets: new Map([['secret', aSecret({ data: { key: Buffer.from('hidden').toString('base64') } })]]),
};

function envOf(container: DeepPartial<Container>, named: NamedObjects = both): Record<string, string> {
  const pod = aPod({ metadata: { labels: { app: 'web' }, annotations: { note: 'n' } }, spec: { nodeName: 'node-1' } });
  const input = {
    pod,
    container: aContainer(container),
    podIPs: ['10.0.0.2', 'fd00::2'],
    hostIPs: ['192.168.0.1'],
    allocatable: { cpu: '4', memory: '8Gi' },
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
  await readNamedObjects(aPod(), aContainer({ env, envFrom: [{ configMapRef: { name: 'settings' } }] }), objects, new AbortController().signal);
  assert.deepEqual(read.sort(), ['configmap default/settings', 'secret default/secret']);
});
