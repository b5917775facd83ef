import type { KindRef } from '#api/kind.ts';
import type { KubeObject, NewObject, ObjectList, WatchEvent } from '#api/object.ts';

export interface ObjectName {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly limit?: number | undefined;
  readonly continueToken?: string | undefined;
  /** The objects come without anything but their type and metadata. */
  readonly metadataOnly?: boolean | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continueToken'> {
  readonly allowBookmarks?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
}

/** A kind as an API server tells of it. */
export interface DiscoveredKind extends KindRef {
  readonly verbs: readonly string[];
}

export type PatchType = 'json' | 'merge' | 'strategic';

/**
 * Typed access to an API server.
 *
 * Every call throws an `ApiError` (see `api-error.ts`) for an answer that is a failure `Status`, `Unavailable` when the server cannot be
 * reached, `Cancelled` when its signal was aborted.
 */
export interface Client {
  get<T extends KubeObject>(kind: KindRef<T>, ref: ObjectName, signal: AbortSignal): Promise<T>;
  list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions, signal: AbortSignal): Promise<ObjectList<T>>;
  /** Ends when the server ends it. @throws {ApiError} with `code` 410 when the revision is gone */
  watch<T extends KubeObject>(kind: KindRef<T>, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(kind: KindRef<T>, object: NewObject<T>, signal: AbortSignal): Promise<T>;
  update<T extends KubeObject>(kind: KindRef<T>, object: T, signal: AbortSignal): Promise<T>;
  updateStatus<T extends KubeObject>(kind: KindRef<T>, object: T, signal: AbortSignal): Promise<T>;
  /** PUT to a subresource such as `finalize`. */
  updateSubresource<T extends KubeObject>(kind: KindRef<T>, object: T, subresource: string, signal: AbortSignal): Promise<T>;
  /** @param subresource `''` for the object itself */
  patch<T extends KubeObject>(
    kind: KindRef<T>,
    ref: ObjectName,
    type: PatchType,
    patch: unknown,
    subresource: string,
    signal: AbortSignal,
  ): Promise<T>;
  delete<T extends KubeObject>(kind: KindRef<T>, ref: ObjectName, options: DeleteOptions, signal: AbortSignal): Promise<void>;
  /** Every version of every resource that the server has, the preferred versions of a group first. */
  discover(signal: AbortSignal): Promise<readonly DiscoveredKind[]>;
  /** POST to a subresource such as `binding`, `token`, `eviction`; answers what the server answers. */
  createSubresource<Answer>(kind: KindRef, ref: ObjectName, subresource: string, body: unknown, signal: AbortSignal): Promise<Answer>;
}
