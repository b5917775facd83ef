import type { Secret } from '#api/types/core-v1.ts';
import { AuthConfig } from '#wire/generated/cri.ts';

/** Where a credential is from: decides which pods may later use the image without showing it again. */
export type CredentialSource =
  | { readonly kind: 'secret'; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: 'service-account'; readonly uid: string; readonly namespace: string; readonly name: string }
  /** Every pod of the node has it. */
  | { readonly kind: 'node' };

export interface Credential {
  readonly auth: AuthConfig;
  readonly source: CredentialSource;
}

/** A credential and the registry that it is for: host, or host and path, where the parts of the host may have globs. */
export interface RegistryCredential extends Credential {
  readonly registry: string;
}

/** Those that fit, the most specific registry first; of one registry in the order given. @param repository in full, without tag */
export function credentialsFor(repository: string, known: readonly RegistryCredential[]): readonly Credential[] {
  const fitting = known.filter(({ registry }) => registryMatches(registry, repository));
  // Upstream sorts the registries backwards as texts: of two that fit the longer path comes first.
  return fitting.toSorted((a, b) => (a.registry < b.registry ? 1 : a.registry > b.registry ? -1 : 0)).map(({ auth, source }) => ({ auth, source }));
}

/** Secrets of other types and broken ones are passed over: the pull itself will say what is missing. */
export function credentialsOfSecrets(secrets: readonly Secret[]): readonly RegistryCredential[] {
  return secrets.flatMap((secret) => {
    const { uid, namespace = '', name } = secret.metadata;
    return dockerConfigOf(secret).map((entry) => ({ ...entry, source: { kind: 'secret', uid: uid ?? '', namespace, name } as const }));
  });
}

/** @param form `config.json` with `auths`, or the older `.dockercfg` without */
export function parseDockerConfig(text: string, form: 'json' | 'cfg'): readonly { readonly registry: string; readonly auth: AuthConfig }[] {
  const parsed = parseJson(text);
  const auths = form === 'json' ? valueAt(parsed, 'auths') : parsed;
  if (typeof auths !== 'object' || auths === null) return [];
  return Object.entries(auths).flatMap(([registry, entry]) => {
    const auth = authOf(entry);
    return auth === undefined ? [] : [{ registry: normalRegistry(registry), auth }];
  });
}

/** Host and path; a host may have globs in its parts, whose number and whose port must be the image's. */
export function registryMatches(registry: string, repository: string): boolean {
  const [pattern, patternPort, patternPath] = split(registry);
  const [host, port, path] = split(repository);
  if (patternPort !== port || !path.startsWith(patternPath)) return false;
  const [globs, parts] = [pattern.split('.'), host.split('.')];
  return globs.length === parts.length && globs.every((glob, index) => globMatches(glob, parts[index] ?? ''));
}

/** As secrets name registries: with or without scheme, with the version of the registry's API behind. */
export function normalRegistry(registry: string): string {
  const bare = registry
    .replace(/^https?:\/\//, '')
    .replace(/^([^/]+)\/v[12](\/|$)/, '$1/')
    .replace(/\/+$/, '');
  return bare.replace(/^(index|registry-1)\.docker\.io(?=$|\/)/, 'docker.io');
}

function dockerConfigOf({ type, data }: Secret): readonly { readonly registry: string; readonly auth: AuthConfig }[] {
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  if (type === 'kubernetes.io/dockerconfigjson') return parseDockerConfig(text('.dockerconfigjson'), 'json');
  if (type === 'kubernetes.io/dockercfg') return parseDockerConfig(text('.dockercfg'), 'cfg');
  return [];
}

function authOf(entry: unknown): AuthConfig | undefined {
  const identityToken = textAt(entry, 'identitytoken');
  const registryToken = textAt(entry, 'registrytoken');
  // Beside a token the name is a placeholder that the runtime would take instead of it.
  if (identityToken !== '' || registryToken !== '') return AuthConfig.create({ identityToken, registryToken });
  const auth = textAt(entry, 'auth');
  const [username = '', ...rest] = auth === '' ? [textAt(entry, 'username')] : Buffer.from(auth, 'base64').toString('utf8').split(':');
  const password = auth === '' ? textAt(entry, 'password') : rest.join(':');
  return username === '' ? undefined : AuthConfig.create({ username, password });
}

function split(name: string): readonly [host: string, port: string, path: string] {
  const slash = name.indexOf('/');
  const authority = slash < 0 ? name : name.slice(0, slash);
  const [host = '', port = ''] = /^(.*):(\d+)$/.exec(authority)?.slice(1) ?? [authority];
  return [host, port, slash < 0 ? '' : name.slice(slash)];
}

function globMatches(glob: string, text: string): boolean {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`).test(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valueAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function textAt(value: unknown, key: string): string {
  const found = valueAt(value, key);
  return typeof found === 'string' ? found : '';
}
