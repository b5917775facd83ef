import { resourceVersionTooLarge } from '#api/status.ts';
import { withDeadline } from '#base/abort.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import type { ServerContext } from '../request/context.ts';

const waitMs = 3_000;

/**
 * Makes sure that a read sees what it must.
 *
 * @param revision undefined: all that was committed before; 0: anything; else at least this one
 * @throws a 504 `StatusError` when the revision does not come within three seconds
 */
export async function waitForRevision(context: ServerContext, revision: number | undefined, signal: AbortSignal): Promise<void> {
  const { registry, clock } = context;
  if (revision === undefined) return registry.upToDate(signal);
  if (revision <= registry.revision) return;
  try {
    await withDeadline('the revision', waitMs, clock, signal, (inner) => registry.reached(revision, inner));
  } catch (error) {
    if (error instanceof DeadlineExceeded) throw resourceVersionTooLarge(revision, registry.revision);
    throw error;
  }
}
