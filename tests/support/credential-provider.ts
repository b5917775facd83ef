import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registryUser } from './registry.ts';

/** Two credential provider plugins: `for-node` for `<host>/helped`, `for-accounts` for `<host>/accounts`. */
export interface TestProviders {
  /** For `kubernode up`; the last one is the folder of the plugins. */
  readonly flags: readonly string[];
  /** What a plugin was asked, in order. */
  questions(plugin?: 'for-node' | 'for-accounts'): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

const pluginVersion = 'credentialprovider.kubelet.k8s.io/v1';

/** Each notes its question and gives the credentials of its arguments and environment. */
const script = `#!/bin/sh
question=$(cat)
echo "$question" >> "$QUESTIONS"
printf '{"kind":"CredentialProviderResponse","apiVersion":"${pluginVersion}","cacheKeyType":"Registry","cacheDuration":"1h","auth":' 
printf '{"%s":{"username":"%s","password":"%s"}}}' "$1" "$REGISTRY_USER" "$REGISTRY_PASSWORD"
`;

export async function writeProvider(host: string): Promise<TestProviders> {
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-providers-'));
  const [configFile, questionsOf] = [join(folder, 'config.yaml'), (plugin: string) => join(folder, `${plugin}.questions`)];
  const provider = (name: string, path: string) => ({
    name,
    apiVersion: pluginVersion,
    matchImages: [`${host}/${path}`],
    defaultCacheDuration: '0s',
    args: [host],
    env: Object.entries({ QUESTIONS: questionsOf(name), REGISTRY_USER: registryUser.name, REGISTRY_PASSWORD: registryUser.password }).map(
      ([variable, value]) => ({ name: variable, value }),
    ),
  });
  const tokenAttributes = {
    serviceAccountTokenAudience: 'registry.tests',
    cacheType: 'ServiceAccount',
    requireServiceAccount: true,
    requiredServiceAccountAnnotationKeys: ['tests/role'],
  };
  const providers = [provider('for-node', 'helped'), { ...provider('for-accounts', 'accounts'), tokenAttributes }];
  const config = { kind: 'CredentialProviderConfig', apiVersion: 'kubelet.config.k8s.io/v1', providers };
  await writeFile(configFile, JSON.stringify(config)); // JSON is YAML
  for (const { name } of providers) await writeFile(join(folder, name), script, { mode: 0o755 });
  return {
    flags: ['--image-credential-provider-config', configFile, '--image-credential-provider-bin-dir', folder],
    async questions(plugin = 'for-node') {
      const lines = (await readFile(questionsOf(plugin), 'utf8')).trim().split('\n');
      return lines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Nodes may have tokens for an audience that no volume of the pod names. */
export function mayAskFor(audience: string): readonly object[] {
  const [group, metadata] = ['rbac.authorization.k8s.io', { name: 'audience-of-registry' }];
  const rules = [{ apiGroups: [''], resources: [audience], verbs: ['request-serviceaccounts-token-audience'] }];
  const subjects = [{ apiGroup: group, kind: 'Group', name: 'system:nodes' }];
  return [
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      subjects,
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
    },
  ];
}
