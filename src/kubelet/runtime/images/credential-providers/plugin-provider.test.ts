import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { NotFound } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { MemoryPluginPrograms, type MemoryProgramEnd } from '#os/memory/plugin-programs.ts';
import { PluginProvider } from './plugin-provider.ts';
import { type CredentialProvider, pluginVersion } from './provider-config.ts';

const { signal } = new AbortController();

const config: CredentialProvider = {
  name: 'helper',
  apiVersion: pluginVersion,
  matchImages: ['*.r.io', 'other.io/team'],
  defaultCacheMs: 0,
  args: ['get', 'credentials'],
  env: [{ name: 'REGION', value: 'north' }],
  tokens: undefined,
};
const tokens = {
  audience: 'r.io',
  cacheType: 'ServiceAccount',
  requireServiceAccount: true,
  requiredAnnotations: ['r.io/role'],
  optionalAnnotations: ['r.io/zone'],
} as const;

const answer = (fields: object = {}): MemoryProgramEnd => ({
  code: 0,
  stdout: JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion: pluginVersion,
    cacheKeyType: 'Image',
    cacheDuration: '10s',
    auth: { '*.r.io': { username: 'me', password: 'secret' } },
    ...fields,
  }),
});

interface World {
  readonly configured?: Partial<CredentialProvider>;
  readonly answers?: (run: { readonly stdin: string }) => MemoryProgramEnd | Promise<MemoryProgramEnd>;
  readonly annotations?: Readonly<Record<string, string>>;
}

function aProvider({ configured = {}, answers = () => answer(), annotations = {} }: World = {}) {
  const clock = new FakeClock();
  const programs = new MemoryPluginPrograms({ '/plugins/helper': async (run) => await answers(run) });
  const warnings: string[] = [];
  const log = (_message: string, fields: Readonly<Record<string, unknown>> = {}) => void warnings.push(String(fields['error']));
  const logger: Logger = { error: log, warn: log, info: log, debug: log, child: () => logger };
  const counted: string[] = [];
  let issued = 0;
  const provider = new PluginProvider(
    { ...config, ...configured },
    {
      programs,
      directory: '/plugins',
      tokens: {
        token: async ({ podName, audience, expirationSeconds }) => {
          issued += 1;
          return { token: `${podName}/${audience}/${expirationSeconds}/${issued}`, refreshAtMs: 0 };
        },
      },
      serviceAccount: async (namespace, name) => {
        if (name === 'gone') throw new NotFound({ message: `serviceaccounts "${name}" not found` });
        return { metadata: { namespace, name, uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '', annotations } };
      },
      metrics: { failed: (plugin) => counted.push(`${plugin} failed`), ran: (plugin) => counted.push(`${plugin} ran`) },
      clock,
      logger,
      closing: signal,
    },
  );
  const of = async (repository: string, pod: Pod = aPod()) =>
    (await provider.credentials(pod, repository, signal)).map(({ auth, source }) => [auth.username, auth.password, source.kind].join(' '));
  return { provider, programs, clock, warnings, counted, of };
}

const podOf = (serviceAccountName: string, name = 'web') => aPod({ metadata: { name }, spec: { serviceAccountName } });

test('a plugin is asked in its protocol, and only for images that it is for', async () => {
  const { of, programs, counted } = aProvider();
  assert.deepEqual(await of('eu.r.io/team/app'), ['me secret node']);
  assert.deepEqual(await of('other.io/app'), []);
  assert.deepEqual(await of('r.io/app'), [], 'each part of the host needs a part of the pattern');
  assert.deepEqual(programs.runs, [
    {
      program: '/plugins/helper',
      args: ['get', 'credentials'],
      env: { REGION: 'north' },
      stdin: `{"kind":"CredentialProviderRequest","apiVersion":"${pluginVersion}","image":"eu.r.io/team/app"}`,
    },
  ]);
  assert.deepEqual(counted, ['helper ran']);
});

test('an image that the plugin is for, but its answer is not, gets none', async () => {
  const { of } = aProvider({ answers: () => answer({ auth: { 'us.r.io': { username: 'me', password: 'p' } } }) });
  assert.deepEqual(await of('eu.r.io/app'), []);
});

test('an answer is kept by image, registry or for all, as long as it says, else as the configuration says, else not at all', async () => {
  const images = ['eu.r.io/a', 'eu.r.io/b', 'us.r.io/a'];
  const runsOf = async (fields: object, defaultCacheMs = 0) => {
    const { of, programs, clock } = aProvider({ configured: { defaultCacheMs }, answers: () => answer(fields) });
    const counts: number[] = [];
    for (const afterMs of [0, 9000, 2000]) {
      await clock.advance(afterMs);
      for (const image of images) await of(image);
      counts.push(programs.runs.length);
    }
    return counts;
  };
  assert.deepEqual(await runsOf({ cacheKeyType: 'Image' }), [3, 3, 6]);
  assert.deepEqual(await runsOf({ cacheKeyType: 'Registry' }), [2, 2, 4]);
  assert.deepEqual(await runsOf({ cacheKeyType: 'Global' }), [1, 1, 2]);
  assert.deepEqual(await runsOf({ cacheKeyType: 'Global', cacheDuration: '0s' }, 60_000), [3, 6, 9]);
  assert.deepEqual(await runsOf({ cacheKeyType: 'Global', cacheDuration: undefined }, 60_000), [1, 1, 1]);
  assert.deepEqual(await runsOf({ cacheKeyType: 'Global', cacheDuration: undefined }), [3, 6, 9]);
});

test('many who want the same wait for one run', async () => {
  let release: (end: MemoryProgramEnd) => void = () => undefined;
  const held = new Promise<MemoryProgramEnd>((resolve) => {
    release = resolve;
  });
  const { of, programs } = aProvider({ answers: () => held });
  const all = Promise.all([of('eu.r.io/a', podOf('', 'one')), of('eu.r.io/a', podOf('', 'two')), of('eu.r.io/a', podOf('', 'three'))]);
  release(answer({ cacheDuration: '0s' }));
  assert.deepEqual((await all).flat(), Array(3).fill('me secret node'));
  assert.equal(programs.runs.length, 1);
});

test('a plugin that fails or answers nonsense gives nothing, and what it wrote is not in the log', async () => {
  const other = { kind: 'CredentialProviderResponse', apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1', cacheKeyType: 'Image' };
  const unreadable = 'error decoding credential provider plugin response from stdout';
  const rows: readonly (readonly [end: MemoryProgramEnd, warning: string])[] = [
    [{ code: 1, stderr: 'not logged in' }, 'error execing credential provider plugin helper for image eu.r.io/app: exit status 1: not logged in'],
    [{ code: 0, stdout: 'password' }, unreadable],
    [answer({ auth: { 'eu.r.io': { username: 1 } } }), unreadable],
    [answer({ surprise: true }), unreadable],
    [answer({ kind: 'CredentialProviderRequest' }), unreadable],
    [answer({ cacheKeyType: 'Country' }), 'credential provider plugin did not return a valid cacheKeyType: "Country"'],
    [
      { code: 0, stdout: JSON.stringify(other) },
      `apiVersion from credential plugin response did not match expected apiVersion:${pluginVersion}, actual apiVersion:${other.apiVersion}`,
    ],
  ];
  for (const [end, warning] of rows) {
    const { of, warnings } = aProvider({ answers: () => end });
    assert.deepEqual([await of('eu.r.io/app'), warnings], [[], [warning]]);
  }
});

test('a plugin that does not end is given up after a minute', async () => {
  const { of, warnings, clock, counted } = aProvider({ answers: () => new Promise(() => undefined) });
  const asked = of('eu.r.io/app');
  await nextTurn();
  await clock.advance(60_000);
  assert.deepEqual(await asked, []);
  assert.deepEqual(warnings, ['error execing credential provider plugin helper for image eu.r.io/app: the program took longer than 60000 ms']);
  assert.deepEqual(counted, ['helper failed', 'helper ran']);
});

test('a plugin that works for ServiceAccounts gets a token of the pod and the annotations that it names', async () => {
  const { of, programs, provider } = aProvider({ configured: { tokens }, annotations: { 'r.io/role': 'reader', 'r.io/zone': 'a', private: 'x' } });
  assert.deepEqual(await of('eu.r.io/app', podOf('robot')), ['me secret service-account']);
  const { image, serviceAccountToken, serviceAccountAnnotations } = JSON.parse(programs.runs[0]?.stdin ?? '');
  assert.deepEqual([image, serviceAccountToken], ['eu.r.io/app', 'web/r.io/3600/1']);
  assert.deepEqual(serviceAccountAnnotations, { 'r.io/role': 'reader', 'r.io/zone': 'a' });
  const [credential] = await provider.credentials(podOf('robot'), 'eu.r.io/app', signal);
  assert.deepEqual(credential?.source, { kind: 'service-account', uid: 'uid-of-robot', namespace: 'default', name: 'robot' });
});

test('answers for ServiceAccounts are kept by account, or by token', async () => {
  const runsOf = async (cacheType: 'ServiceAccount' | 'Token') => {
    const { of, programs } = aProvider({ configured: { tokens: { ...tokens, cacheType } }, annotations: { 'r.io/role': 'reader' } });
    for (const [account, pod] of [
      ['robot', 'one'],
      ['robot', 'two'],
      ['other', 'three'],
    ] as const) {
      await of('eu.r.io/app', podOf(account, pod));
    }
    return programs.runs.length;
  };
  assert.equal(await runsOf('ServiceAccount'), 2);
  assert.equal(await runsOf('Token'), 3);
});

test('a pod whose ServiceAccount is not what the plugin wants does not make it run', async () => {
  const annotated = { configured: { tokens }, annotations: {} };
  const { of, programs, warnings } = aProvider(annotated);
  assert.deepEqual(await of('eu.r.io/app', podOf('robot')), [], 'no annotation');
  assert.deepEqual(await of('eu.r.io/app', podOf('')), [], 'no account');
  assert.deepEqual(warnings, []);
  assert.deepEqual(await of('eu.r.io/app', podOf('gone')), []);
  assert.deepEqual([programs.runs, warnings], [[], ['serviceaccounts "gone" not found']]);
  const easy = aProvider({ configured: { tokens: { ...tokens, requireServiceAccount: false, requiredAnnotations: [] } } });
  assert.deepEqual(await easy.of('eu.r.io/app', podOf('')), ['me secret node'], 'a static pod is the node’s');
});
