import { AppError, InvalidInput } from '#base/errors.ts';
import { AuthConfig } from '#wire/generated/cri.ts';
import { duration, optional, table, text } from '../../../configuration/field.ts';
import { normalRegistry } from '../credentials.ts';

/** A plugin did not give credentials. Never says what the plugin wrote: that may be credentials. */
export class PluginFailed extends AppError {
  readonly code = 'PLUGIN_FAILED';
  readonly retry = 'backoff';
}

/** What a plugin is asked; only plugins of version 1 get something of the ServiceAccount. */
export interface PluginQuestion {
  readonly image: string;
  readonly serviceAccountToken?: string | undefined;
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>> | undefined;
}

export interface PluginAnswer {
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global';
  /** 0: not kept at all; absent: as long as the configuration says. */
  readonly cacheMs: number | undefined;
  readonly auths: readonly { readonly registry: string; readonly auth: AuthConfig }[];
}

const answerFields = table({ kind: text(''), apiVersion: text(''), cacheKeyType: text(''), cacheDuration: optional(duration(0)) });

export function encodeQuestion(question: PluginQuestion, apiVersion: string): string {
  return JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, ...question });
}

/** @throws {PluginFailed} in upstream's words */
export function decodeAnswer(stdout: string, apiVersion: string): PluginAnswer {
  const unreadable = new PluginFailed({ message: 'error decoding credential provider plugin response from stdout' });
  const { auth, ...rest } = asObject(parse(stdout)) ?? refuse(unreadable);
  const actual = typeof rest['apiVersion'] === 'string' ? rest['apiVersion'] : '';
  if (actual !== apiVersion) {
    const message = `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, actual apiVersion:${actual}`;
    throw new PluginFailed({ message });
  }
  const { kind, cacheKeyType, cacheDuration } = readFields(rest, unreadable);
  if (kind !== 'CredentialProviderResponse') throw unreadable;
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global') {
    throw new PluginFailed({ message: `credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(cacheKeyType)}` });
  }
  const entries = auth === undefined || auth === null ? [] : Object.entries(asObject(auth) ?? refuse(unreadable));
  const auths = entries.map(([registry, entry]) => {
    const { username = '', password = '' } = asObject(entry) ?? refuse(unreadable);
    if (typeof username !== 'string' || typeof password !== 'string') throw unreadable;
    return { registry: normalRegistry(registry), auth: AuthConfig.create({ username, password }) };
  });
  return { cacheKeyType, cacheMs: cacheDuration, auths };
}

function readFields(value: object, unreadable: PluginFailed): ReturnType<typeof answerFields.parse> {
  try {
    return answerFields.parse(value, '');
  } catch (error) {
    if (error instanceof InvalidInput) throw unreadable;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function refuse(error: PluginFailed): never {
  throw error;
}
