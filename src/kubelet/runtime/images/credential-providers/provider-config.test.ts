import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '#base/errors.ts';
import { parseCredentialProviders, pluginVersion } from './provider-config.ts';

const provider = { name: 'helper', apiVersion: pluginVersion, matchImages: ['*.r.io'], defaultCacheDuration: '10m' };
const tokenAttributes = { serviceAccountTokenAudience: 'r.io', cacheType: 'Token', requireServiceAccount: true };

const document = (providers: readonly object[], version = 'v1') => ({
  source: `${version}.yaml`,
  value: { kind: 'CredentialProviderConfig', apiVersion: `kubelet.config.k8s.io/${version}`, providers },
});

function problemOf(...documents: Parameters<typeof parseCredentialProviders>[0]): string {
  try {
    parseCredentialProviders(documents);
    return 'none';
  } catch (error) {
    return messageOf(error);
  }
}

test('a configuration of each version is read, those of a folder one after another', () => {
  const full = { ...provider, args: ['get'], env: [{ name: 'A', value: 'b' }], tokenAttributes };
  const others = ['v1beta1', 'v1alpha1'].map((version) => document([{ ...provider, name: version, apiVersion: `${pluginVersion}beta1` }], version));
  const [first, ...rest] = parseCredentialProviders([document([full]), ...others]);
  assert.deepEqual(first, {
    name: 'helper',
    apiVersion: pluginVersion,
    matchImages: ['*.r.io'],
    defaultCacheMs: 600_000,
    args: ['get'],
    env: [{ name: 'A', value: 'b' }],
    tokens: { audience: 'r.io', cacheType: 'Token', requireServiceAccount: true, requiredAnnotations: [], optionalAnnotations: [] },
  });
  assert.deepEqual(
    rest.map(({ name, tokens }) => [name, tokens]),
    [
      ['v1beta1', undefined],
      ['v1alpha1', undefined],
    ],
  );
});

test('what is no such configuration is refused with its file', () => {
  const value = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1' };
  assert.equal(problemOf({ source: 'a.yaml', value }), 'error decoding config "a.yaml": failed to decode "KubeletConfiguration" (wrong Kind)');
  assert.match(problemOf({ source: 'a.yaml', value: 7 }), /^error decoding config "a.yaml": /);
  assert.equal(problemOf(document([{ ...provider, surprise: 1 }])), 'error decoding config "v1.yaml": providers[0].surprise is not a known field');
  assert.equal(
    problemOf(document([{ ...provider, tokenAttributes }], 'v1beta1')),
    'error decoding config "v1beta1.yaml": unknown field "providers[0].tokenAttributes"',
  );
  assert.equal(problemOf(document([provider]), document([provider])), 'duplicate provider name "helper" found in configuration file(s)');
});

test('every field that is wrong is named in upstream’s words', () => {
  const rows: readonly (readonly [fields: object, problem: string])[] = [
    [{ name: 'a/b' }, 'providers.name: Invalid value: "a/b": provider name cannot contain \'/\''],
    [{ name: 'a b' }, 'providers.name: Invalid value: "a b": provider name cannot contain spaces'],
    [{ name: '..' }, 'providers.name: Invalid value: "..": provider name cannot be \'..\''],
    [{ apiVersion: undefined }, 'providers.apiVersion: Required value'],
    [
      { apiVersion: 'v2' },
      `providers.apiVersion: Unsupported value: "v2": supported values: "${pluginVersion}", "${pluginVersion}alpha1", "${pluginVersion}beta1"`,
    ],
    [{ matchImages: [] }, 'providers.matchImages: Required value: at least 1 item in matchImages is required'],
    [{ matchImages: ['https://r.io'] }, 'providers.matchImages: Invalid value: "https://r.io": match image is invalid'],
    [{ defaultCacheDuration: undefined }, 'providers.defaultCacheDuration: Required value'],
    [
      { apiVersion: `${pluginVersion}beta1`, tokenAttributes },
      `providers.tokenAttributes: Forbidden: tokenAttributes is only supported for ${pluginVersion} API version`,
    ],
    [
      { tokenAttributes: { ...tokenAttributes, requireServiceAccount: false, requiredServiceAccountAnnotationKeys: ['a'] } },
      'providers.tokenAttributes.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set',
    ],
    [
      { tokenAttributes: { ...tokenAttributes, requiredServiceAccountAnnotationKeys: ['a'], optionalServiceAccountAnnotationKeys: ['a'] } },
      'providers.tokenAttributes: Invalid value: ["a"]: annotation keys cannot be both required and optional',
    ],
    [
      { tokenAttributes: { serviceAccountTokenAudience: 'r.io', requireServiceAccount: true } },
      'providers.tokenAttributes.cacheType: Required value: cacheType is required to be set when tokenAttributes is specified. Supported values are: ServiceAccount, Token',
    ],
  ];
  for (const [fields, problem] of rows)
    assert.equal(problemOf(document([{ ...provider, ...fields }])), `failed to validate credential provider config: ${problem}`);
  assert.equal(
    problemOf(document([])),
    'failed to validate credential provider config: providers: Required value: at least 1 item in plugins is required',
  );
  assert.match(problemOf(document([{ name: 'x' }])), /config: \[providers\.apiVersion: Required value, providers\.matchImages: .*\]$/);
});
