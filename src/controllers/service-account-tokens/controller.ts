import { secret as secretKind } from '#api/kinds/core/v1/secret.ts';
import { serviceAccount as accountKind } from '#api/kinds/core/v1/service-account.ts';
import { objectKey } from '#api/object.ts';
import type { Secret, ServiceAccount } from '#api/types/core-v1.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isNotFound } from '#client/api-error.ts';
import { createInformer } from '#client/informer.ts';
import type { Informer } from '#client/informer-port.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { accountOf, filled, isTokenOf, planSecret, type SecretTokenClaims, TOKEN_SECRET_TYPE, withoutSecret } from './plan.ts';

export interface TokenSecretsOptions {
  readonly rootCaPem: string;
  /** Signs a token without an end. */
  signToken(claims: SecretTokenClaims): Promise<string>;
}

/** Fills Secrets that are to hold a token of a service account, and ends them with the account. */
export async function runServiceAccountTokensController(
  context: ControllerContext,
  options: TokenSecretsOptions,
  signal: AbortSignal,
): Promise<void> {
  const selected = { fieldSelector: `type=${TOKEN_SECRET_TYPE}` }; // the other secrets need not be in memory twice
  const secrets = createInformer(context.client, secretKind, selected, context);
  const accounts = await syncedInformer(context, accountKind, signal);
  const controller = new TokenSecrets(context, options, secrets, accounts);
  const tasks = new TaskGroup((what, error) => context.logger.error('a part of the controller ended', { what, error: String(error) }));
  tasks.run('secrets', () => secrets.run(signal));
  await controller.run(signal);
  await tasks.close();
}

class TokenSecrets {
  readonly #context: ControllerContext;
  readonly #options: TokenSecretsOptions;
  readonly #secrets: Informer<Secret>;
  readonly #accounts: Informer<ServiceAccount>;
  readonly #queue: WorkQueue;
  /** Accounts that may list a Secret that is gone, by the Secret's key. */
  readonly #bereft = new Map<string, string>();

  constructor(context: ControllerContext, options: TokenSecretsOptions, secrets: Informer<Secret>, accounts: Informer<ServiceAccount>) {
    this.#context = context;
    this.#options = options;
    this.#secrets = secrets;
    this.#accounts = accounts;
    this.#queue = new WorkQueue({ ...context, workers: 2 });
    secrets.subscribe(({ type, object }) => {
      const key = objectKey(object.metadata);
      if (type === 'deleted') this.#bereft.set(key, accountOf(object).name);
      this.#queue.add(key);
    });
    accounts.subscribe(({ type, object }) => {
      if (type !== 'deleted') return;
      for (const secret of secrets.list()) if (isOf(secret, object)) this.#queue.add(objectKey(secret.metadata));
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run((key, inner) => this.#look(key, inner), signal);
  }

  async #look(key: string, signal: AbortSignal): Promise<void> {
    try {
      const secret = this.#secrets.get(key);
      if (secret === undefined) await this.#takeOut(key, signal);
      else await this.#keep(secret, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error; // gone meanwhile
    }
  }

  async #keep(secret: Secret, signal: AbortSignal): Promise<void> {
    const { client } = this.#context;
    const { namespace, name, uid, resourceVersion } = secret.metadata;
    const account = await this.#account(namespace, accountOf(secret).name, secret, signal);
    const plan = planSecret(secret, account, this.#options.rootCaPem);
    if (plan.kind === 'nothing') return;
    if (plan.kind === 'delete' || account === undefined) {
      await client.delete(secretKind, { namespace, name }, { preconditions: { uid, resourceVersion } }, signal);
      return;
    }
    const claims = { namespace, secretName: name, serviceAccountName: account.metadata.name, serviceAccountUid: account.metadata.uid };
    const token = plan.needsToken ? await this.#options.signToken(claims) : undefined;
    await client.update(secretKind, filled(secret, account, this.#options.rootCaPem, token), signal);
  }

  /** The informer may be behind: an account that it does not know, or knows under another uid, is asked for. */
  async #account(namespace: string, name: string, secret: Secret, signal: AbortSignal): Promise<ServiceAccount | undefined> {
    const known = this.#accounts.get(`${namespace}/${name}`);
    if (known !== undefined && isTokenOf(secret, known)) return known;
    try {
      return await this.#context.client.get(accountKind, { namespace, name }, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** An account does not go on listing a Secret that is gone. */
  async #takeOut(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', secretName = ''] = key.split('/');
    const account = this.#accounts.get(`${namespace}/${this.#bereft.get(key) ?? ''}`);
    const without = account === undefined ? undefined : withoutSecret(account, secretName);
    if (without !== undefined) await this.#context.client.update(accountKind, without, signal);
    if (this.#secrets.get(key) === undefined) this.#bereft.delete(key);
  }
}

function isOf(secret: Secret, account: ServiceAccount): boolean {
  return secret.metadata.namespace === account.metadata.namespace && accountOf(secret).name === account.metadata.name;
}
