import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindRef } from '#api/kind.ts';
import type { SubjectAccessReview } from '#api/types/authorization-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { Client } from '#client/client.ts';
import type { PeerIdentity } from '#wire/http/peers.ts';
import { parseKubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import { Refusal } from '../answer.ts';
import { guardOf } from './guard.ts';
import { nodeAttributes } from './node-attributes.ts';

const none: PeerIdentity = { kind: 'none' };

function aWorld(configuration: Readonly<Record<string, unknown>> = {}) {
  const clock = new FakeClock();
  const asked: unknown[] = [];
  /** Rights as `user verb subresource`. */
  const rights = new Set<string>();
  const world = { clock, asked, rights, isUp: true, names: new Map([['good', 'system:serviceaccount:ns:sa']]) };
  const create = async (kind: KindRef, object: { readonly spec: unknown }): Promise<unknown> => {
    if (!world.isUp) throw new Unavailable({ message: 'no API server' });
    asked.push(object.spec);
    if (kind.kind === 'TokenReview') {
      const username = world.names.get((object.spec as { readonly token: string }).token);
      return { status: username === undefined ? { authenticated: false } : { authenticated: true, user: { username, uid: '7', groups: ['g'] } } };
    }
    const { user, resourceAttributes } = object.spec as SubjectAccessReview['spec'];
    return { status: { allowed: rights.has(`${user} ${resourceAttributes?.verb} ${resourceAttributes?.subresource}`) } };
  };
  const client = { create } as unknown as Client; // the guard creates, and nothing else
  const guard = guardOf(parseKubeletConfiguration(configuration, 'test'), 'node-1', client, clock, silentLogger);
  const ask = (
    path: string,
    more: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly peer?: PeerIdentity } = {},
  ) => guard({ method: 'GET', path, headers: {}, peer: none, ...more });
  return { ...world, world, ask, bearer: (token: string) => ({ headers: { authorization: `Bearer ${token}` } }) };
}

function peer(commonName: string, change: { readonly validUntilMs?: number } = {}): PeerIdentity {
  const more = { organizations: ['o'], uid: '', fingerprint256: 'ff', validUntilMs: Number.POSITIVE_INFINITY, authorities: ['client'] as const };
  return { kind: 'verified', commonName, ...more, ...change };
}

const refused = (status: number, text: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual([error.status, error.message], [status, text]);
  return true;
};

for (const [method, path, verb, subresources] of [
  ['GET', '/stats/summary', 'get', ['stats']],
  ['POST', '/metrics/cadvisor', 'create', ['metrics']],
  ['GET', '/metricsfoo', 'get', ['proxy']],
  ['GET', '/logs/a/b', 'get', ['log']],
  ['GET', '/pods', 'get', ['pods', 'proxy']],
  ['GET', '/runningpods/', 'get', ['pods', 'proxy']],
  ['GET', '/healthz/ping', 'get', ['healthz', 'proxy']],
  ['GET', '/configz', 'get', ['configz', 'proxy']],
  ['GET', '/flagz', 'get', ['configz']],
  ['HEAD', '/statusz', '', ['statusz']],
  ['POST', '/checkpoint/ns/p/c', 'create', ['checkpoint']],
  ['POST', '/exec/ns/p/c', 'create', ['proxy']],
  ['PUT', '/debug/flags/v', 'update', ['proxy']],
] as const) {
  test(`${method} ${path} is ${verb} of nodes/${subresources.join(' or nodes/')}`, () => {
    assert.deepEqual(nodeAttributes(method, path), { verb, subresources });
  });
}

test('nobody comes in without a name, unless the configuration lets anonymous in', async () => {
  await assert.rejects(aWorld().ask('/pods'), refused(401, 'Unauthorized'));
  const open = aWorld({ authentication: { anonymous: { enabled: true } } });
  open.rights.add('system:anonymous get proxy');
  assert.equal((await open.ask('/pods')).name, 'system:anonymous');
  await assert.rejects(open.ask('/pods', open.bearer('bad')), refused(401, 'Unauthorized'));
  await assert.rejects(open.ask('/pods', { peer: { kind: 'rejected', problem: 'x' } }), refused(401, 'Unauthorized'));
});

test('whoever has a certificate is its name and is asked for with its groups', async () => {
  const { ask, rights, asked } = aWorld();
  rights.add('jane get metrics');
  assert.deepEqual((await ask('/metrics', { peer: peer('jane') })).groups, ['o', 'system:authenticated']);
  assert.deepEqual(asked, [
    {
      user: 'jane',
      groups: ['o', 'system:authenticated'],
      resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'metrics', name: 'node-1' },
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ff'] },
    },
  ]);
});

test('a certificate that ended while its connection lived is nobody', async () => {
  const { ask, clock } = aWorld({ authorization: { mode: 'AlwaysAllow' } });
  const short = peer('jane', { validUntilMs: clock.now() + 1000 });
  await ask('/pods', { peer: short });
  await clock.advance(1001);
  await assert.rejects(ask('/pods', { peer: short }), refused(401, 'Unauthorized'));
});

test('a token is reviewed once in two minutes, also one that comes as a protocol of a WebSocket', async () => {
  const { ask, asked, rights, bearer, clock } = aWorld();
  rights.add('system:serviceaccount:ns:sa get stats');
  const protocol = `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from('good').toString('base64url')}`;
  await ask('/stats/summary', bearer('good'));
  await ask('/stats/summary', { headers: { 'sec-websocket-protocol': protocol } });
  assert.equal(asked.length, 2, 'one review of the token, one of the right');
  await clock.advance(120_000);
  await ask('/stats/summary', bearer('good'));
  assert.equal(asked.length, 3);
});

test('tokens are not taken when the webhook is off', async () => {
  const { ask, bearer, asked } = aWorld({ authentication: { webhook: { enabled: false } } });
  await assert.rejects(ask('/pods', bearer('good')), refused(401, 'Unauthorized'));
  assert.deepEqual(asked, []);
});

test('the first right that fits is enough, and a refusal names all that were tried', async () => {
  const { ask, rights, bearer, clock } = aWorld();
  const user = 'system:serviceaccount:ns:sa';
  await assert.rejects(
    ask('/pods', bearer('good')),
    refused(403, `Forbidden (user=${user}, verb=get, resource=nodes, subresource(s)=[pods proxy])\n`),
  );
  rights.add(`${user} get proxy`);
  await clock.advance(30_000);
  await ask('/healthz', bearer('good'));
});

test('a refusal holds for half a minute, a permission for five', async () => {
  const { ask, rights, bearer, clock } = aWorld({ authentication: { webhook: { cacheTTL: '1h' } } });
  const right = 'system:serviceaccount:ns:sa get metrics';
  await assert.rejects(ask('/metrics', bearer('good')));
  rights.add(right);
  await clock.advance(29_999);
  await assert.rejects(ask('/metrics', bearer('good')));
  await clock.advance(1);
  await ask('/metrics', bearer('good'));
  rights.delete(right);
  await clock.advance(299_999);
  await ask('/metrics', bearer('good'));
  await clock.advance(1);
  await assert.rejects(ask('/metrics', bearer('good')));
});

test('without an API server tokens are nobody and rights are an error', async () => {
  const { ask, world, bearer } = aWorld();
  world.isUp = false;
  await assert.rejects(ask('/metrics', bearer('good')), refused(401, 'Unauthorized'));
  const text = 'Authorization error (user=jane, verb=get, resource=nodes, subresource=metrics)';
  await assert.rejects(ask('/metrics', { peer: peer('jane') }), refused(500, text));
});
