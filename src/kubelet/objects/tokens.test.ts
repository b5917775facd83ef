import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import type { Transport } from '#client/transport.ts';
import { createTokens, TokenUnavailable } from './tokens.ts';

const { signal } = new AbortController();
const wish = { namespace: 'default', serviceAccountName: 'robot', podName: 'web', podUid: 'u1', audience: '', expirationSeconds: 1000 };

/** An API server that only issues tokens, numbered. */
function open(random = 0) {
  const clock = new FakeClock();
  const bodies: unknown[] = [];
  let isDown = false;
  const transport: Transport = {
    async send(request) {
      if (isDown) throw new Unavailable({ message: 'the server cannot be reached' });
      assert.equal(`${request.method} ${request.path}`, 'POST /api/v1/namespaces/default/serviceaccounts/robot/token');
      bodies.push(JSON.parse(request.body?.toString() ?? ''));
      const expirationTimestamp = new Date(clock.now() + 1_000_000).toISOString();
      const answer = Buffer.from(JSON.stringify({ status: { token: `token-${bodies.length}`, expirationTimestamp } }));
      async function* body() {
        yield answer;
      }
      return { status: 201, headers: {}, body: body() };
    },
    close: async () => undefined,
  };
  const tokens = createTokens({ client: createClient(transport), clock, logger: silentLogger, random: () => random });
  const setDown = (down: boolean) => {
    isDown = down;
  };
  return { clock, bodies, tokens, setDown };
}

test('a token is bound to its pod and asked for once', async () => {
  const { clock, bodies, tokens } = open();
  const [first, second] = await Promise.all([tokens.token(wish, signal), tokens.token(wish, signal)]);
  assert.deepEqual([first.token, second.token, first.refreshAtMs - clock.now()], ['token-1', 'token-1', 800_000]);
  assert.deepEqual(bodies, [
    {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: { expirationSeconds: 1000, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'u1' } },
    },
  ]);
});

test('another audience is another token', async () => {
  const { bodies, tokens } = open();
  await tokens.token(wish, signal);
  assert.equal((await tokens.token({ ...wish, audience: 'vault' }, signal)).token, 'token-2');
  assert.deepEqual((bodies[1] as { spec: { audiences: unknown } }).spec.audiences, ['vault']);
});

test('after 80 % of its life, a little earlier, a token is asked for again', async () => {
  const { clock, tokens } = open(0.5);
  await tokens.token(wish, signal);
  await clock.advance(794_999);
  assert.equal((await tokens.token(wish, signal)).token, 'token-1');
  await clock.advance(1);
  assert.equal((await tokens.token(wish, signal)).token, 'token-2');
});

test('an old token serves as long as it is valid', async () => {
  const { clock, tokens, setDown } = open();
  await tokens.token(wish, signal);
  setDown(true);
  await clock.advance(900_000);
  const old = await tokens.token(wish, signal);
  assert.deepEqual([old.token, old.refreshAtMs - clock.now()], ['token-1', 60_000]);
  await clock.advance(100_000);
  await assert.rejects(tokens.token(wish, signal), (error) => error instanceof TokenUnavailable && /expired and refresh failed/.test(error.message));
});

test('no token at all is a failure, and one of a forgotten pod is not kept', async () => {
  const { tokens, setDown } = open();
  await tokens.token(wish, signal);
  tokens.forget('u1');
  setDown(true);
  await assert.rejects(tokens.token(wish, signal), { message: 'failed to fetch token: the server cannot be reached' });
});
