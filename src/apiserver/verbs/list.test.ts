import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type Answer, type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const never = new AbortController().signal;

interface Named {
  readonly metadata: { readonly name: string };
}
const names = ({ body }: Answer): readonly string[] => body.items.map(({ metadata }: Named) => metadata.name);
const create = async (api: InProcessServer, name: string, namespace = 'default'): Promise<number> => {
  const { body } = await api.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, { body: { metadata: { name, labels: { n: name } } } });
  return Number(body.metadata.resourceVersion);
};

/** Three objects of known revisions, and one that came and went after them. */
async function withHistory(clock?: FakeClock): Promise<{ readonly api: InProcessServer; readonly afterTwo: number; readonly afterThree: number }> {
  const api = await inProcessServer({}, clock);
  await create(api, 'a');
  const afterTwo = await create(api, 'b');
  const afterThree = await create(api, 'c');
  await create(api, 'd');
  await api.call('DELETE', `${configMaps}/d`);
  return { api, afterTwo, afterThree };
}

test('resourceVersion of a list: unset is the newest state, 0 any, a number one that is not older, with a limit or Exact that very one', async () => {
  const { api, afterTwo, afterThree } = await withHistory();
  await using _ = api;
  const list = (query: string) => api.call('GET', `${configMaps}?${query}`);
  assert.deepEqual(names(await list('')), ['a', 'b', 'c']);
  assert.deepEqual(names(await list('resourceVersion=0')), ['a', 'b', 'c']);
  assert.deepEqual(names(await list(`resourceVersion=${afterTwo}`)), ['a', 'b', 'c']);
  assert.deepEqual(names(await list(`resourceVersion=${afterTwo}&resourceVersionMatch=NotOlderThan&limit=10`)), ['a', 'b', 'c']);
  for (const exactly of ['limit=10', 'resourceVersionMatch=Exact', 'resourceVersionMatch=Exact&limit=1']) {
    const { body, ...answer } = await list(`resourceVersion=${afterTwo}&${exactly}`);
    assert.deepEqual(
      [names({ ...answer, body }), body.metadata.resourceVersion],
      [exactly.endsWith('limit=1') ? ['a'] : ['a', 'b'], String(afterTwo)],
    );
  }
  const all = await list(`resourceVersion=${afterThree + 1}&resourceVersionMatch=Exact`);
  assert.deepEqual(names(all), ['a', 'b', 'c', 'd']);
});

test('given LIST resourceVersion=0&limit=1, then all objects are returned without continue', async () => {
  const { api } = await withHistory();
  await using _ = api;
  const answer = await api.call('GET', `${configMaps}?resourceVersion=0&limit=1`);
  assert.deepEqual([names(answer), answer.body.metadata.continue], [['a', 'b', 'c'], undefined]);
});

test('given limit=2 on 5 objects, then continue is set and remainingItemCount=3; with a labelSelector remainingItemCount is absent', async () => {
  await using api = await inProcessServer();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(api, name);
  const { body: first } = await api.call('GET', `${configMaps}?limit=2`);
  assert.ok(first.metadata.continue.length > 0);
  assert.equal(first.metadata.remainingItemCount, 3);
  const selected = await api.call('GET', `${configMaps}?limit=2&labelSelector=n!%3Db`);
  assert.deepEqual([names(selected), selected.body.metadata.remainingItemCount], [['a', 'c'], undefined]);
  const rest = await api.call('GET', `${configMaps}?limit=9&labelSelector=n!%3Db&continue=${selected.body.metadata.continue}`);
  assert.deepEqual([names(rest), rest.body.metadata.continue], [['d', 'e'], undefined]);
});

test('a list is in the order of its keys, namespace by namespace', async () => {
  await using api = await inProcessServer();
  for (const namespace of ['n', 'n-1', 'm']) await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  await create(api, 'x', 'n');
  await create(api, 'y', 'n-1');
  await create(api, 'z', 'm');
  assert.deepEqual(names(await api.call('GET', '/api/v1/configmaps')), ['z', 'y', 'x']); // '-' comes before '/'
  assert.deepEqual(names(await api.call('GET', '/api/v1/configmaps?fieldSelector=metadata.namespace%3Dn-1')), ['y']);
  assert.deepEqual(names(await api.call('GET', '/api/v1/configmaps?fieldSelector=metadata.name%3Dx')), ['x']);
  assert.deepEqual(names(await api.call('GET', '/api/v1/namespaces/n/configmaps?fieldSelector=metadata.name%3Dy')), []);
  assert.deepEqual(names(await api.call('GET', '/api/v1/namespaces/none/configmaps')), []);
});

test('a page whose state is compacted is refused with 410 and a usable inconsistent token; an exact list with 410 alone', async () => {
  const clock = new FakeClock();
  const { api, afterTwo } = await withHistory(clock);
  await using _ = api;
  const { body: first } = await api.call('GET', `${configMaps}?limit=1`);
  const newest = await create(api, 'e');
  await api.storage.compact(newest, never);
  await clock.advance(6 * 60_000); // the pages that were kept are let go about when the store forgets
  const late = await api.call('GET', `${configMaps}?limit=1&continue=${first.metadata.continue}`);
  assert.deepEqual([late.status, late.body.reason, late.body.code], [410, 'Expired', 410]);
  assert.match(late.body.message, /^The provided continue parameter is too old to display a consistent list result\. You can start a new list/);
  const going = await api.call('GET', `${configMaps}?limit=2&continue=${late.body.metadata.continue}`);
  assert.deepEqual(names(going), ['b', 'c']);
  assert.deepEqual(names(await api.call('GET', `${configMaps}?continue=${going.body.metadata.continue}`)), ['e']);
  const exact = await api.call('GET', `${configMaps}?resourceVersion=${afterTwo}&resourceVersionMatch=Exact`);
  assert.deepEqual([exact.status, exact.body.message], [410, 'The resourceVersion for the provided list is too old.']);
});

test('the store forgets by itself: a token of ten minutes ago is expired', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  for (const name of ['a', 'b', 'c']) await create(api, name);
  const { body: first } = await api.call('GET', `${configMaps}?limit=1`);
  await create(api, 'd');
  await clock.advance(4 * 60_000);
  const young = await api.call('GET', `${configMaps}?limit=1&continue=${first.metadata.continue}`);
  assert.deepEqual([young.status, names(young)], [200, ['b']]);
  for (const name of ['e', 'f']) {
    await create(api, name);
    await clock.advance(5 * 60_000);
  }
  await create(api, 'g');
  assert.equal((await api.call('GET', `${configMaps}?limit=1&continue=${first.metadata.continue}`)).status, 410);
});

const problems: readonly (readonly [string, number, string])[] = [
  ['resourceVersionMatch=Exact', 422, 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'],
  [
    'resourceVersionMatch=Exact&resourceVersion=0',
    422,
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    'resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x',
    422,
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
  ],
  [
    'resourceVersionMatch=Other&resourceVersion=1',
    422,
    'resourceVersionMatch: Unsupported value: "Other": supported values: "Exact", "NotOlderThan", ""',
  ],
  ['sendInitialEvents=true', 422, 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
];
for (const [query, code, problem] of problems) {
  test(`a list with ${query} is refused: ${problem}`, async () => {
    await using api = await inProcessServer();
    const { status, body } = await api.call('GET', `${configMaps}?${query}`);
    assert.deepEqual([status, body.message], [code, `ListOptions.meta.k8s.io "" is invalid: ${problem}`]);
  });
}

test('options that cannot be read are refused with 400', async () => {
  await using api = await inProcessServer();
  const messageOf = async (query: string) => {
    const { status, body } = await api.call('GET', `${configMaps}?${query}`);
    return [status, body.message];
  };
  const token = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const continued = await api.call('GET', `${configMaps}?limit=1`);
  assert.equal(continued.status, 200);
  assert.deepEqual(await messageOf(`resourceVersion=3&continue=${token({ v: 'meta.k8s.io/v1', rv: 3, start: 'a\0' })}`), [
    400,
    'specifying resource version is not allowed when using continue',
  ]);
  assert.deepEqual(await messageOf('limit=x'), [400, 'strconv.ParseInt: parsing "x": invalid syntax']);
  assert.deepEqual(await messageOf('resourceVersion=abc'), [
    400,
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  ]);
  assert.match((await messageOf('continue=x'))[1], /^invalid continue token: continue key is not valid/);
  assert.deepEqual(await messageOf(`continue=${token({ v: 'meta.k8s.io/v1', rv: 3, start: '../secrets/x\0' })}`), [
    400,
    'invalid continue token: continue key is not valid: ../secrets/x',
  ]);
  assert.deepEqual(await messageOf('labelSelector=a%3D%3D%3D'), [400, "unable to parse requirement: found '=', expected: identifier"]);
});

test('given a RV in the future on GET, then 504 with cause ResourceVersionTooLarge and Retry-After 1, not 410', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await create(api, 'a');
  for (const url of [`${configMaps}/a?resourceVersion=9999`, `${configMaps}?resourceVersion=9999`]) {
    const answer = api.call('GET', url);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3_000);
    const { status, headers, body } = await answer;
    assert.match(body.message, /^Timeout: Too large resource version: 9999, current: \d+$/);
    assert.deepEqual([status, headers['retry-after'], body.details.causes[0].reason], [504, '1', 'ResourceVersionTooLarge']);
  }
});

test('given `?fieldSelector=spec.nodeName=` (empty value), then only unscheduled pods; unsupported label -> 400', async () => {
  await using api = await inProcessServer();
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const pod = (name: string, spec: object) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
  for (const body of [pod('waits', {}), pod('sits', { nodeName: 'n' })]) await api.call('POST', '/api/v1/namespaces/default/pods', { body });
  assert.deepEqual(names(await api.call('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3D')), ['waits']);
  assert.deepEqual(names(await api.call('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn')), ['sits']);
  const { status, body } = await api.call('GET', '/api/v1/pods?fieldSelector=spec.image%3Di');
  assert.deepEqual([status, body.message], [400, 'field label not supported: spec.image']);
});

test('given label selector `env!=prod`, then objects without label env match', async () => {
  await using api = await inProcessServer();
  await create(api, 'a');
  await api.call('POST', configMaps, { body: { metadata: { name: 'p', labels: { env: 'prod' } } } });
  await api.call('POST', configMaps, { body: { metadata: { name: 't', labels: { env: 'test' } } } });
  assert.deepEqual(names(await api.call('GET', `${configMaps}?labelSelector=env!%3Dprod`)), ['a', 't']);
  assert.deepEqual(names(await api.call('GET', `${configMaps}?labelSelector=${encodeURIComponent('env notin (prod,dev)')}`)), ['a', 't']);
  assert.deepEqual(names(await api.call('GET', `${configMaps}?labelSelector=${encodeURIComponent('env in (prod, test),!n')}`)), ['p', 't']);
});

test('given a continue chain, when objects are added meanwhile, then all pages report the first page’s RV and do not show them', async () => {
  await using api = await inProcessServer();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(api, name);
  const first = await api.call('GET', `${configMaps}?limit=2`);
  await create(api, 'b2');
  await api.call('DELETE', `${configMaps}/d`);
  const second = await api.call('GET', `${configMaps}?limit=2&continue=${first.body.metadata.continue}`);
  assert.deepEqual([names(second), second.body.metadata.remainingItemCount], [['c', 'd'], 1]);
  const third = await api.call('GET', `${configMaps}?limit=2&continue=${second.body.metadata.continue}`);
  assert.deepEqual([names(third), third.body.metadata.continue, third.body.metadata.remainingItemCount], [['e'], undefined, undefined]);
  const revisions = [first, second, third].map(({ body }) => body.metadata.resourceVersion);
  assert.equal(new Set(revisions).size, 1);
});

test('a state that is about to come is waited for', async () => {
  await using api = await inProcessServer();
  const next = (await create(api, 'a')) + 1;
  const waiting = api.call('GET', `${configMaps}?resourceVersion=${next}`);
  await create(api, 'b');
  assert.deepEqual(names(await waiting), ['a', 'b']);
});

test('a list puts bytes together: no object is parsed or printed for it', async () => {
  await using api = await inProcessServer();
  for (let index = 0; index < 50; index++) await create(api, `c${index}`);
  const transport = api.server.transportAs({ name: 'admin', groups: ['system:masters'] });
  const parse = mock.method(JSON, 'parse');
  const stringify = mock.method(JSON, 'stringify');
  try {
    for (const query of ['', 'limit=10', 'labelSelector=n', 'fieldSelector=metadata.name%3Dc7', 'resourceVersion=0']) {
      const request = { method: 'GET', path: configMaps, query: new URLSearchParams(query), headers: {}, body: undefined } as const;
      assert.equal((await transport.send(request, never)).status, 200);
    }
    assert.equal(parse.mock.callCount(), 0);
    assert.ok(stringify.mock.callCount() <= 6, 'the metadata of each list, and one token');
  } finally {
    parse.mock.restore();
    stringify.mock.restore();
  }
});
