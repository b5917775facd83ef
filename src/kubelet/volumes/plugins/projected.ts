import type { Pod, ServiceAccountTokenProjection, VolumeProjection } from '#api/types/core-v1.ts';
import { AppError, Cancelled } from '#base/errors.ts';
import type { ObjectRefKey } from '../../ports/objects.ts';
import type { PayloadFile } from '../atomic-writer.ts';
import { downwardPayload } from '../payload/downward.ts';
import { joinedFailure } from '../payload/joined-failure.ts';
import { configMapPayload, configMapRef, secretPayload, secretRef } from '../payload/named-objects.ts';
import { type VolumePlugin, VolumeSetUpFailed } from '../volume-plugin.ts';
import { soleUser } from '../wanted.ts';
import { type Content, contentPlugin } from './content-plugin.ts';
import { DEFAULT_FILE_MODE } from './default-mode.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

/** What the API server fills in when a token's life is not said. */
const DEFAULT_TOKEN_SECONDS = 3600;

/** Several sources in one volume; of two that want the same path the later one has it. */
export function projectedPlugin(dependencies: PluginDependencies): VolumePlugin {
  return contentPlugin(
    {
      name: 'kubernetes.io~projected',
      inMemory: true,
      supports: ({ projected }) => projected !== undefined,
      refs: ({ projected }, namespace) => (projected?.sources ?? []).flatMap((source) => refsOf(source, namespace)),
      readsPod: ({ projected }) => (projected?.sources ?? []).some(({ downwardAPI }) => downwardAPI !== undefined),
      async content({ projected }, pod, signal) {
        const mode = projected?.defaultMode ?? DEFAULT_FILE_MODE;
        // All at once: a token and an object come from the API server beside each other.
        const parts = await Promise.allSettled((projected?.sources ?? []).map((source) => partOf(source, pod, mode, dependencies, signal)));
        return joined(parts);
      },
      forget: (podUid) => dependencies.tokens.forget(podUid),
    },
    dependencies,
  );
}

function refsOf({ configMap, secret }: VolumeProjection, namespace: string): readonly ObjectRefKey[] {
  if (configMap !== undefined) return [configMapRef(namespace, configMap.name ?? '')];
  return secret === undefined ? [] : [secretRef(namespace, secret.name ?? '')];
}

async function partOf(
  source: VolumeProjection,
  pod: Pod,
  defaultMode: number,
  dependencies: PluginDependencies,
  signal: AbortSignal,
): Promise<Content> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  const { objects, allocatable } = dependencies;
  const { namespace } = pod.metadata;
  if (serviceAccountToken !== undefined) return tokenFile(serviceAccountToken, pod, defaultMode, dependencies, signal);
  if (downwardAPI !== undefined) return { payload: downwardPayload(downwardAPI.items ?? [], pod, allocatable(), defaultMode) };
  if (configMap !== undefined) {
    const selection = { items: configMap.items, defaultMode, optional: configMap.optional === true };
    return { payload: await configMapPayload(objects, namespace, configMap.name ?? '', selection, signal) };
  }
  if (secret !== undefined) {
    const selection = { items: secret.items, defaultMode, optional: secret.optional === true };
    return { payload: await secretPayload(objects, namespace, secret.name ?? '', selection, signal) };
  }
  const [type = 'empty'] = Object.keys(source);
  throw new VolumeSetUpFailed({ message: `projected source ${type} is not supported by this node` });
}

async function tokenFile(
  wish: ServiceAccountTokenProjection,
  pod: Pod,
  defaultMode: number,
  { tokens }: PluginDependencies,
  signal: AbortSignal,
): Promise<Content> {
  const { metadata, spec } = pod;
  const { token, refreshAtMs } = await tokens.token(
    {
      namespace: metadata.namespace,
      serviceAccountName: spec?.serviceAccountName ?? 'default',
      podName: metadata.name,
      podUid: metadata.uid,
      audience: wish.audience ?? '',
      expirationSeconds: wish.expirationSeconds ?? DEFAULT_TOKEN_SECONDS,
    },
    signal,
  );
  const userId = soleUser(spec);
  // Who runs as one user, or with a group for its volumes, gets a token that nobody else can read.
  const mode = userId !== undefined || spec?.securityContext?.fsGroup !== undefined ? 0o600 : defaultMode;
  return { payload: new Map([[wish.path, { content: token, mode, userId }]]), refreshAtMs };
}

function joined(parts: readonly PromiseSettledResult<Content>[]): Content {
  const files = new Map<string, PayloadFile>();
  const failures: VolumeSetUpFailed[] = [];
  let refreshAtMs: number | undefined;
  for (const part of parts) {
    if (part.status === 'rejected') failures.push(asFailure(part.reason));
    else {
      for (const [path, file] of part.value.payload) files.set(path, file);
      refreshAtMs = earlier(refreshAtMs, part.value.refreshAtMs);
    }
  }
  if (failures.length > 0) throw joinedFailure(failures);
  return { payload: files, refreshAtMs };
}

function asFailure(error: unknown): VolumeSetUpFailed {
  if (error instanceof VolumeSetUpFailed) return error;
  if (error instanceof AppError && !(error instanceof Cancelled))
    return new VolumeSetUpFailed({ message: error.message, hint: error.hint, cause: error });
  throw error;
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
