import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const spec = { defaultBackend: { service: { name: 'web', port: { number: 80 } } } };

async function makeClass(api: InProcessServer, name: string, isDefault: boolean): Promise<void> {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) };
  const body = { metadata: { name, annotations }, spec: { controller: 'example.com/lb' } };
  assert.equal((await api.call('POST', '/apis/networking.k8s.io/v1/ingressclasses', { body })).status, 201);
}

async function classOf(api: InProcessServer, metadata: object, part: object = {}): Promise<string | undefined> {
  const url = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
  const { status, body } = await api.call('POST', url, { body: { metadata: { generateName: 'a-', ...metadata }, spec: { ...spec, ...part } } });
  assert.equal(status, 201, JSON.stringify(body));
  return body.spec.ingressClassName;
}

test('a new ingress without a class is of the youngest default, the first by name of the same age', async () => {
  let nowMs = systemClock.now();
  await using api = await inProcessServer({}, { ...systemClock, now: () => nowMs });
  await makeClass(api, 'plain', false);
  assert.equal(await classOf(api, {}), undefined);
  await makeClass(api, 'old', true);
  assert.equal(await classOf(api, {}), 'old');
  nowMs += 2_000;
  for (const name of ['young', 'twin']) await makeClass(api, name, true);
  assert.equal(await classOf(api, {}), 'twin');
});

test('an ingress that names its class, by the field or the old annotation, keeps it', async () => {
  await using api = await inProcessServer();
  await makeClass(api, 'default', true);
  assert.equal(await classOf(api, {}, { ingressClassName: 'mine' }), 'mine');
  assert.equal(await classOf(api, { annotations: { 'kubernetes.io/ingress.class': 'mine' } }), undefined);
});
