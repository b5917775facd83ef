import type { Registry } from 'prom-client';
import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import type { Client } from '#client/client.ts';
import type { KubeletConfig, KubeletHost } from '../../kubelet-config.ts';
import type { TokensPort } from '../../ports/tokens.ts';
import { createPluginMetrics } from './credential-providers/plugin-metrics.ts';
import { PluginProvider } from './credential-providers/plugin-provider.ts';
import { DockerFiles } from './docker-files.ts';
import type { NodeCredentials } from './image-pulls.ts';

/** What every pod of the node has for a registry: the node's own files, then the answers of plugins, in the order of their configuration. */
export function createNodeCredentials(
  { dockerConfigs, credentialProviders }: KubeletConfig,
  { files, clock, logger, client, pluginPrograms }: KubeletHost,
  tokens: TokensPort,
  registry: Registry,
): { readonly of: NodeCredentials; close(): void } {
  const ofFiles = new DockerFiles({ files, clock, paths: dockerConfigs });
  const { providers, directory } = credentialProviders ?? { providers: [], directory: '' };
  const metrics = createPluginMetrics(registry);
  const abort = new AbortController();
  const deps = { programs: pluginPrograms, directory, tokens, serviceAccount: accountOf(client), metrics, clock, logger, closing: abort.signal };
  const plugins = providers.map((provider) => new PluginProvider(provider, deps));
  return {
    async of(pod, repository, signal) {
      const ofPlugins = plugins.map((plugin) => plugin.credentials(pod, repository, signal));
      return (await Promise.all([ofFiles.credentials(repository, signal), ...ofPlugins])).flat();
    },
    close: () => abort.abort(),
  };
}

function accountOf(client: Client) {
  return (namespace: string, name: string, signal: AbortSignal) => client.get(serviceAccount, { namespace, name }, signal);
}
