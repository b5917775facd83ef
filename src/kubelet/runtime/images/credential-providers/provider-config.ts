import { InvalidInput } from '#base/errors.ts';
import { duration, flag, listOf, optional, type Parsed, table, text, texts } from '../../../configuration/field.ts';

/** A program that knows credentials of registries. */
export interface CredentialProvider {
  /** Of the program, in the folder of plugins. */
  readonly name: string;
  /** The plugin's own protocol. */
  readonly apiVersion: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMs: number;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Absent: the plugin works for the node, not for the pod's ServiceAccount. */
  readonly tokens: ProviderTokens | undefined;
}

export interface ProviderTokens {
  readonly audience: string;
  /** What the answer is kept by: each token of a pod is another, the ServiceAccount stays. */
  readonly cacheType: 'ServiceAccount' | 'Token';
  readonly requireServiceAccount: boolean;
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

/** A `CredentialProviderConfig` as it was written. */
export interface ProviderDocument {
  /** Its file, for errors. */
  readonly source: string;
  readonly value: unknown;
}

export const pluginVersion = 'credentialprovider.kubelet.k8s.io/v1';
const pluginVersions = [pluginVersion, `${pluginVersion}alpha1`, `${pluginVersion}beta1`];
const group = 'kubelet.config.k8s.io';
const configVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
const cacheTypes = ['ServiceAccount', 'Token'] as const;

const tokenFields = table({
  serviceAccountTokenAudience: text(''),
  cacheType: text(''),
  requireServiceAccount: optional(flag(false)),
  requiredServiceAccountAnnotationKeys: texts([]),
  optionalServiceAccountAnnotationKeys: texts([]),
});

const config = table({
  kind: text(''),
  apiVersion: text(''),
  providers: listOf(
    table({
      name: text(''),
      apiVersion: text(''),
      matchImages: texts([]),
      defaultCacheDuration: optional(duration(0)),
      args: texts([]),
      env: listOf(table({ name: text(''), value: text('') })),
      tokenAttributes: optional(tokenFields),
    }),
  ),
});
type ProviderFields = Parsed<{ config: typeof config }>['config']['providers'][number];
type TokenFields = NonNullable<ProviderFields['tokenAttributes']>;

/**
 * Reads one configuration, or all of a folder's, in the order of their names.
 *
 * @throws {InvalidInput} with upstream's words about every field that is wrong
 */
export function parseCredentialProviders(documents: readonly ProviderDocument[]): readonly CredentialProvider[] {
  const providers = documents.flatMap(({ source, value }) => read(source, value));
  const twice = providers.find(({ name }, at) => providers.findIndex((other) => other.name === name) < at);
  if (twice !== undefined)
    throw new InvalidInput({ message: `duplicate provider name ${JSON.stringify(twice.name)} found in configuration file(s)` });
  const problems = providers.length === 0 ? ['providers: Required value: at least 1 item in plugins is required'] : providers.flatMap(problemsOf);
  if (problems.length > 0) {
    const all = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
    throw new InvalidInput({ message: `failed to validate credential provider config: ${all}` });
  }
  return providers.map((fields) => ({
    name: fields.name,
    apiVersion: fields.apiVersion,
    matchImages: fields.matchImages,
    defaultCacheMs: fields.defaultCacheDuration ?? 0,
    args: fields.args,
    env: fields.env,
    tokens: fields.tokenAttributes === undefined ? undefined : tokensOf(fields.tokenAttributes),
  }));
}

function read(source: string, value: unknown): readonly ProviderFields[] {
  const wrong = (why: string) => new InvalidInput({ message: `error decoding config ${JSON.stringify(source)}: ${why}` });
  const { kind, apiVersion, providers } = readFields(value, wrong);
  if (kind !== 'CredentialProviderConfig') throw wrong(`failed to decode ${JSON.stringify(kind)} (wrong Kind)`);
  if (!configVersions.includes(apiVersion)) throw wrong(`apiVersion ${JSON.stringify(apiVersion)} is not one of ${configVersions.join(', ')}`);
  const stranger = providers.findIndex(({ tokenAttributes }) => tokenAttributes !== undefined);
  if (stranger >= 0 && apiVersion !== configVersions[0]) throw wrong(`unknown field "providers[${stranger}].tokenAttributes"`);
  return providers;
}

function readFields(value: unknown, wrong: (why: string) => InvalidInput): ReturnType<typeof config.parse> {
  try {
    return config.parse(value, '');
  } catch (error) {
    throw error instanceof InvalidInput ? wrong(error.message) : error;
  }
}

function problemsOf({ name, apiVersion, matchImages, defaultCacheDuration, tokenAttributes }: ProviderFields): readonly string[] {
  const badName = (what: string) => `providers.name: Invalid value: ${JSON.stringify(name)}: provider name cannot ${what}`;
  return [
    ...(name.includes('/') ? [badName("contain '/'")] : []),
    ...(name.includes(' ') ? [badName('contain spaces')] : []),
    ...(name === '.' || name === '..' ? [badName(`be '${name}'`)] : []),
    // Upstream lets it pass and then runs the folder.
    ...(name === '' ? ['providers.name: Required value'] : []),
    ...(apiVersion === '' ? ['providers.apiVersion: Required value'] : []),
    ...(apiVersion !== '' && !pluginVersions.includes(apiVersion) ? [notSupported('providers.apiVersion', apiVersion, pluginVersions)] : []),
    ...(matchImages.length === 0 ? ['providers.matchImages: Required value: at least 1 item in matchImages is required'] : []),
    ...matchImages.flatMap((image) => (isHostAndPath(image) ? [] : [invalid('providers.matchImages', image, 'match image is invalid')])),
    ...(defaultCacheDuration === undefined ? ['providers.defaultCacheDuration: Required value'] : []),
    ...(tokenAttributes === undefined ? [] : tokenProblems(tokenAttributes, apiVersion)),
  ];
}

function tokenProblems(fields: TokenFields, apiVersion: string): readonly string[] {
  const path = 'providers.tokenAttributes';
  const { serviceAccountTokenAudience, cacheType, requireServiceAccount } = fields;
  const { requiredServiceAccountAnnotationKeys: required, optionalServiceAccountAnnotationKeys: also } = fields;
  const both = required.filter((key) => also.includes(key));
  const supported = cacheTypes.join(', ');
  const needsCacheType = `cacheType is required to be set when tokenAttributes is specified. Supported values are: ${supported}`;
  return [
    ...(serviceAccountTokenAudience === '' ? [`${path}.serviceAccountTokenAudience: Required value`] : []),
    ...(requireServiceAccount === undefined ? [`${path}.requireServiceAccount: Required value`] : []),
    ...(apiVersion === pluginVersion ? [] : [`${path}: Forbidden: tokenAttributes is only supported for ${pluginVersion} API version`]),
    ...(requireServiceAccount === false && required.length > 0
      ? [
          `${path}.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set`,
        ]
      : []),
    ...keyProblems(`${path}.requiredServiceAccountAnnotationKeys`, required),
    ...keyProblems(`${path}.optionalServiceAccountAnnotationKeys`, also),
    ...(both.length > 0 ? [`${path}: Invalid value: ${JSON.stringify(both)}: annotation keys cannot be both required and optional`] : []),
    ...(cacheType === '' ? [`${path}.cacheType: Required value: ${needsCacheType}`] : []),
    ...(cacheType !== '' && !cacheTypes.some((one) => one === cacheType) ? [notSupported(`${path}.cacheType`, cacheType, cacheTypes)] : []),
  ];
}

function keyProblems(path: string, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key, at) => [
    ...(isQualifiedName(key) ? [] : [invalid(path, key, 'name part must consist of alphanumeric characters, "-", "_" or "."')]),
    ...(keys.indexOf(key) < at ? [`${path}: Duplicate value: ${JSON.stringify(key)}`] : []),
  ]);
}

function tokensOf(fields: TokenFields): ProviderTokens {
  return {
    audience: fields.serviceAccountTokenAudience,
    cacheType: fields.cacheType === 'Token' ? 'Token' : 'ServiceAccount',
    requireServiceAccount: fields.requireServiceAccount ?? false,
    requiredAnnotations: fields.requiredServiceAccountAnnotationKeys,
    optionalAnnotations: fields.optionalServiceAccountAnnotationKeys,
  };
}

/** A registry without a scheme; a host whose parts have globs is one. */
function isHostAndPath(image: string): boolean {
  return /^[^\s/:]+(:\d+)?(\/\S*)?$/.test(image);
}

function isQualifiedName(key: string): boolean {
  return /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$/i.test(key);
}

function invalid(path: string, value: string, why: string): string {
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${why}`;
}

function notSupported(path: string, value: string, choices: readonly string[]): string {
  return `${path}: Unsupported value: ${JSON.stringify(value)}: supported values: ${choices.map((one) => JSON.stringify(one)).join(', ')}`;
}
