import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aContainer, aPod, aSecret } from '#api/testing/objects.ts';
import type { Payload } from '../atomic-writer.ts';
import { MemoryObjects } from '../testing/volume-host.ts';
import { VolumeSetUpFailed } from '../volume-plugin.ts';
import { downwardPayload, formatMap } from './downward.ts';
import { joinedFailure } from './joined-failure.ts';
import { configMapPayload, secretPayload } from './named-objects.ts';

const { signal } = new AbortController();
const all = { defaultMode: 0o644, optional: false };

/** `path mode content` */
function lines(payload: Payload): readonly string[] {
  return [...payload].map(([path, { content, mode }]) => `${path} ${mode.toString(8)} ${Buffer.from(content).toString()}`);
}

test('a ConfigMap gives a file a key, binary data too', async () => {
  const objects = new MemoryObjects();
  objects.put(aConfigMap({ data: { key: 'text' }, binaryData: { b: Buffer.from('bytes').toString('base64') } }));
  assert.deepEqual(lines(await configMapPayload(objects, 'default', 'settings', all, signal)), ['key 644 text', 'b 644 bytes']);
});

test('items choose keys, paths and modes', async () => {
  const objects = new MemoryObjects();
  objects.put(aSecret({ data: { a: Buffer.from('1').toString('base64'), b: '' } }));
  const items = [
    { key: 'a', path: 'x/y', mode: 0o400 },
    { key: 'b', path: 'z' },
  ];
  assert.deepEqual(lines(await secretPayload(objects, 'default', 'secret', { ...all, items }, signal)), ['x/y 400 1', 'z 644 ']);
});

test('what is missing is named as upstream names it, with what ends the wait', async () => {
  const objects = new MemoryObjects();
  const missingKey = { ...all, items: [{ key: 'k', path: 'p' }] };
  await assert.rejects(configMapPayload(objects, 'default', 'x', all, signal), {
    message: 'configmap "x" not found',
    wakeOn: ['configmap/default/x'],
  });
  await assert.rejects(secretPayload(objects, 'default', 'x', all, signal), { message: 'secret "x" not found', wakeOn: ['secret/default/x'] });
  objects.put(aConfigMap());
  objects.put(aSecret());
  await assert.rejects(configMapPayload(objects, 'default', 'settings', missingKey, signal), {
    message: 'configmap references non-existent config key: k',
    wakeOn: ['configmap/default/settings'],
  });
  await assert.rejects(secretPayload(objects, 'default', 'secret', missingKey, signal), { message: 'references non-existent secret key: k' });
});

test('optional things may be missing', async () => {
  const objects = new MemoryObjects();
  const optional = {
    ...all,
    optional: true,
    items: [
      { key: 'k', path: 'p' },
      { key: 'key', path: 'q' },
    ],
  };
  assert.deepEqual(lines(await configMapPayload(objects, 'default', 'x', optional, signal)), []);
  objects.put(aConfigMap());
  assert.deepEqual(lines(await configMapPayload(objects, 'default', 'settings', optional, signal)), ['q 644 value']);
});

test('the downward API shows fields, maps and resources', () => {
  const pod = aPod({
    metadata: { labels: { b: 'two', a: 'with "quotes"\n' } },
    spec: { containers: [aContainer({ resources: { limits: { cpu: '1500m' }, requests: { memory: '1Mi' } } })] },
  });
  const field = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });
  const resource = (path: string, name: string, divisor?: string) => ({ path, resourceFieldRef: { containerName: 'main', resource: name, divisor } });
  const items = [
    field('name', 'metadata.name'),
    field('labels', 'metadata.labels'),
    field('annotations', 'metadata.annotations'),
    { ...resource('cpu', 'limits.cpu'), mode: 0o400 },
    resource('memory', 'requests.memory', '1Ki'),
    resource('unset', 'limits.memory'),
  ];
  assert.deepEqual(lines(downwardPayload(items, pod, { memory: '8Gi' }, 0o644)), [
    'name 644 web',
    'labels 644 a="with \\"quotes\\"\\n"\nb="two"',
    'annotations 644 ',
    'cpu 400 2',
    'memory 644 1024',
    'unset 644 8589934592',
  ]);
  assert.equal(formatMap(undefined), '');
});

test('several failures become one text', () => {
  const failure = (message: string) => new VolumeSetUpFailed({ message, wakeOn: [`configmap/default/${message}`] });
  assert.equal(joinedFailure([failure('a')]).message, 'a');
  const both = joinedFailure([failure('a'), failure('b')]);
  assert.deepEqual([both.message, both.wakeOn], ['[a, b]', ['configmap/default/a', 'configmap/default/b']]);
});
