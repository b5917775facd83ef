import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { unnamedError } from '#api/status.ts';
import { ValueTooLarge } from '#store/storage.ts';
import type { Written } from '../registry/registry.ts';
import type { ServerContext } from '../request/context.ts';
import { withOwners } from './owners.ts';

/**
 * Stores an object. One that is too large is stored without its owners, when that helps and they were not what the client came for.
 *
 * @param expectedRevision 0: the object must not exist
 * @param isApplied what is applied keeps its owners
 * @throws a `StatusError`: 500 in etcd's words
 */
export async function putObject(
  { registry, leases }: Pick<ServerContext, 'registry' | 'leases'>,
  kind: Kind,
  key: string,
  object: KubeObject,
  expectedRevision: number,
  isApplied: boolean,
  signal: AbortSignal,
): Promise<Written> {
  const leaseId = await leases.leaseFor(kind, signal);
  const put = async (stored: KubeObject) => {
    try {
      return await registry.put(kind, key, stored, expectedRevision, leaseId, signal);
    } catch (error) {
      if (error instanceof ValueTooLarge) return error;
      throw error;
    }
  };
  const ownerless = isApplied ? object : withOwners(object, []);
  let result = await put(object);
  if (result instanceof ValueTooLarge && ownerless !== object) result = await put(ownerless);
  if (result instanceof ValueTooLarge) throw unnamedError(result.message);
  return result;
}
