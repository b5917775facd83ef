import type { Pod, ServiceAccount } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { PluginProgramsPort } from '../../../ports/plugin-programs.ts';
import type { TokensPort } from '../../../ports/tokens.ts';
import { type Credential, type CredentialSource, credentialsFor, registryMatches } from '../credentials.ts';
import { SharedPulls } from '../shared-pulls.ts';
import { decodeAnswer, encodeQuestion, type PluginAnswer, PluginFailed } from './plugin-messages.ts';
import type { PluginMetrics } from './plugin-metrics.ts';
import type { CredentialProvider, ProviderTokens } from './provider-config.ts';

export interface PluginProviderDeps {
  readonly programs: PluginProgramsPort;
  /** Of the plugins. */
  readonly directory: string;
  readonly tokens: Pick<TokensPort, 'token'>;
  readonly serviceAccount: (namespace: string, name: string, signal: AbortSignal) => Promise<Pick<ServiceAccount, 'metadata'>>;
  readonly metrics: PluginMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the programs that run; who waits for one has a signal of its own. */
  readonly closing: AbortSignal;
}

/** On whose behalf a plugin is asked. */
interface Account {
  readonly source: Extract<CredentialSource, { kind: 'service-account' }>;
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Upstream's: a plugin may try a few times, but not for ever. */
const runWithinMs = 60_000;
/** Upstream's API server gives a token for so long when nothing is asked for. */
const tokenSeconds = 3600;

/** One plugin: asked once for all who want the same, its answers kept as long as it says. */
export class PluginProvider {
  readonly #config: CredentialProvider;
  readonly #deps: PluginProviderDeps;
  /** By account, and image, registry or nothing. */
  readonly #kept = new Map<string, { readonly answer: PluginAnswer; readonly expiresAtMs: number }>();
  readonly #asked = new SharedPulls<PluginAnswer>();

  constructor(config: CredentialProvider, deps: PluginProviderDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /** The plugin's credentials for an image, none when it has none or fails: the pull itself will say what is missing. */
  async credentials(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly Credential[]> {
    if (!this.#config.matchImages.some((match) => registryMatches(match, repository))) return [];
    try {
      const account = await this.#accountOf(pod, signal);
      if (account === 'not asked') return [];
      const { auths } = this.#known(repository, account) ?? (await this.#ask(pod, repository, account));
      const source: CredentialSource = account?.source ?? { kind: 'node' };
      return credentialsFor(
        repository,
        auths.map((entry) => ({ ...entry, source })),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      this.#deps.logger.warn('a credential provider gave nothing', { provider: this.#config.name, image: repository, error: messageOf(error) });
      return [];
    }
  }

  /** @returns nothing for a plugin that works for the node; `not asked`: the pod's ServiceAccount is not what the plugin wants */
  async #accountOf({ metadata, spec }: Pod, signal: AbortSignal): Promise<Account | 'not asked' | undefined> {
    const { tokens } = this.#config;
    if (tokens === undefined) return undefined;
    const name = spec?.serviceAccountName ?? '';
    if (name === '') return tokens.requireServiceAccount ? 'not asked' : undefined; // a static pod has none
    const account = await this.#deps.serviceAccount(metadata.namespace, name, signal);
    const given = account.metadata.annotations ?? {};
    if (tokens.requiredAnnotations.some((key) => given[key] === undefined)) return 'not asked';
    const wish = {
      namespace: metadata.namespace,
      serviceAccountName: name,
      podName: metadata.name,
      podUid: metadata.uid,
      audience: tokens.audience,
      expirationSeconds: tokenSeconds,
    };
    const { token } = await this.#deps.tokens.token(wish, signal);
    const source = { kind: 'service-account', uid: account.metadata.uid, namespace: metadata.namespace, name } as const;
    return { source, token, annotations: annotationsFor(tokens, given) };
  }

  #known(repository: string, account: Account | undefined): PluginAnswer | undefined {
    const nowMs = this.#deps.clock.now();
    for (const [key, { expiresAtMs }] of this.#kept) if (expiresAtMs < nowMs) this.#kept.delete(key);
    const keys = (['Image', 'Registry', 'Global'] as const).map((type) => this.#keyOf(type, repository, account));
    return keys.flatMap((key) => this.#kept.get(key)?.answer ?? [])[0];
  }

  async #ask(pod: Pod, repository: string, account: Account | undefined): Promise<PluginAnswer> {
    const key = JSON.stringify([repository, account?.token, account?.annotations]);
    const answer = await this.#asked.join(key, pod.metadata.uid, (inner) => this.#run(repository, account, inner), this.#deps.closing);
    const cacheMs = answer.cacheMs ?? this.#config.defaultCacheMs;
    if (cacheMs > 0) this.#kept.set(this.#keyOf(answer.cacheKeyType, repository, account), { answer, expiresAtMs: this.#deps.clock.now() + cacheMs });
    return answer;
  }

  async #run(image: string, account: Account | undefined, signal: AbortSignal): Promise<PluginAnswer> {
    const { programs, directory, metrics, clock } = this.#deps;
    const { name, apiVersion, args, env } = this.#config;
    const question =
      account === undefined ? { image } : { image, serviceAccountToken: account.token, serviceAccountAnnotations: account.annotations };
    const request = {
      program: `${directory}/${name}`,
      args,
      env: Object.fromEntries(env.map((variable) => [variable.name, variable.value])),
      stdin: encodeQuestion(question, apiVersion),
    };
    const startedAt = clock.monotonic();
    const failed = (cause: unknown) =>
      new PluginFailed({ message: `error execing credential provider plugin ${name} for image ${image}: ${messageOf(cause)}`, cause });
    let stdout: string;
    try {
      stdout = await withDeadline('the program', runWithinMs, clock, signal, (inner) => programs.run(request, inner));
    } catch (error) {
      metrics.failed(name);
      throw failed(error);
    } finally {
      metrics.ran(name, clock.monotonic() - startedAt);
    }
    return decodeAnswer(stdout, apiVersion);
  }

  #keyOf(type: PluginAnswer['cacheKeyType'], repository: string, account: Account | undefined): string {
    const place = { Image: repository, Registry: repository.split('/')[0], Global: 'global' }[type];
    const isByToken = this.#config.tokens?.cacheType === 'Token';
    return JSON.stringify([place, account === undefined ? '' : [account.source, account.annotations, isByToken ? account.token : '']]);
  }
}

function annotationsFor({ requiredAnnotations, optionalAnnotations }: ProviderTokens, given: Readonly<Record<string, string>>) {
  const wanted = [...requiredAnnotations, ...optionalAnnotations].sort();
  return Object.fromEntries(wanted.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
}
