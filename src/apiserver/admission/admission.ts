import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { User } from '../request/user.ts';

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** '' when the server is to make one up. */
  readonly name: string;
  /** What is to be stored; for a subresource with a body of its own, and for a deletion, the object that there is. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  /** What was sent, for a subresource with a body of its own. */
  readonly body?: unknown;
  readonly user: User;
  readonly isDryRun: boolean;
  /** Tells the client something beside the answer. */
  warn(text: string): void;
}

/** One concern of what may enter the store. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Changes or refuses what is to be stored, before its defaults are checked. @throws a `StatusError` to refuse */
  mutate?(request: AdmissionRequest, signal: AbortSignal): Promise<KubeObject> | KubeObject;
  /** Refuses what is valid and still must not be. @throws a `StatusError` to refuse */
  validate?(request: AdmissionRequest, signal: AbortSignal): Promise<void> | void;
}

/** All plugins, in order. */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest, signal: AbortSignal): Promise<KubeObject> {
    let object = request.object;
    for (const plugin of this.#plugins) {
      if (plugin.mutate !== undefined) object = await plugin.mutate({ ...request, object }, signal);
    }
    return object;
  }

  async validate(request: AdmissionRequest, signal: AbortSignal): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(request, signal);
  }
}

/** The pod that is about to be created, if this is about one. */
export function newPodOf(request: AdmissionRequest): Pod | undefined {
  return request.operation === 'CREATE' ? writtenPodOf(request) : undefined;
}

/** The pod that is about to be created or replaced, if this is about one as a whole. */
export function writtenPodOf({ kind, operation, subresource, object }: AdmissionRequest): Pod | undefined {
  if (operation === 'DELETE' || subresource !== '' || kind.group !== '' || kind.kind !== 'Pod') return undefined;
  return object as Pod; // the kind's schema has read it
}

/** The name that a refusal names. */
export function shownName({ name, object }: AdmissionRequest): string {
  return name || object.metadata.name || object.metadata.generateName || 'Unknown';
}
