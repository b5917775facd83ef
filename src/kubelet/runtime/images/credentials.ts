import type { Secret } from '#api/types/core-v1.ts';
import type { AuthConfig } from '#wire/generated/cri.ts';

interface Credential {
  /** Host, or host and path, as the secret has it; may have globs in the host. */
  readonly registry: string;
  readonly auth: AuthConfig;
}

/** Credentials of pull secrets that fit the image, the longest match first. Secrets of other types and broken ones are passed over. */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly AuthConfig[] {
  const target = withRegistry(image);
  return secrets
    .flatMap(credentialsOf)
    .filter(({ registry }) => covers(registry, target))
    .sort((a, b) => b.registry.length - a.registry.length)
    .map(({ auth }) => auth);
}

function credentialsOf(secret: Secret): readonly Credential[] {
  if (secret.type === 'kubernetes.io/dockerconfigjson') return parse(secret.data?.['.dockerconfigjson'], (config) => recordAt(config, 'auths'));
  if (secret.type === 'kubernetes.io/dockercfg') return parse(secret.data?.['.dockercfg'], (config) => config);
  return [];
}

function parse(base64: string | undefined, hostsOf: (config: unknown) => unknown): readonly Credential[] {
  if (base64 === undefined) return [];
  try {
    const hosts = hostsOf(JSON.parse(Buffer.from(base64, 'base64').toString('utf8')));
    if (typeof hosts !== 'object' || hosts === null) return [];
    return Object.entries(hosts).flatMap(([host, entry]) => {
      const auth = authOf(entry);
      return auth === undefined ? [] : [{ registry: normal(host), auth }];
    });
  } catch {
    return []; // a broken secret gives no credentials: the pull itself will say what is missing
  }
}

function authOf(entry: unknown): AuthConfig | undefined {
  const username = textAt(entry, 'username');
  const password = textAt(entry, 'password');
  const auth = textAt(entry, 'auth');
  const identityToken = textAt(entry, 'identitytoken');
  const base = { auth: '', serverAddress: '', identityToken, registryToken: textAt(entry, 'registrytoken') };
  if (username !== '') return { ...base, username, password };
  const [user = '', ...rest] = Buffer.from(auth, 'base64').toString('utf8').split(':');
  return user === '' ? undefined : { ...base, username: user, password: rest.join(':') };
}

function normal(host: string): string {
  const bare = host
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .replace(/\/v[12]$/, '');
  return bare === 'index.docker.io' || bare === 'registry-1.docker.io' ? 'docker.io' : bare;
}

function withRegistry(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return hasRegistry ? image : `docker.io/${rest.length === 0 ? 'library/' : ''}${image}`;
}

function covers(registry: string, image: string): boolean {
  const [host = '', ...path] = registry.split('/');
  const [imageHost = '', ...imagePath] = image.split('/');
  const pattern = new RegExp(
    `^${host
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^.]*')}$`,
  );
  return pattern.test(imageHost) && imagePath.join('/').startsWith(path.join('/'));
}

function recordAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function textAt(value: unknown, key: string): string {
  const found = recordAt(value, key);
  return typeof found === 'string' ? found : '';
}
