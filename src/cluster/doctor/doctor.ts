import { messageOf } from '#base/errors.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { checks } from './checks.ts';

export interface Finding {
  /** What was looked at. */
  readonly check: string;
  /** `advice`: a cluster starts, but something may not work. */
  readonly result: 'good' | 'bad' | 'advice';
  /** What was found. */
  readonly detail: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly mend: string | undefined;
}

/** Looks at everything that a cluster with a node needs of this host, and tells all at once. Changes nothing. */
export async function doctor(host: ClusterHost, signal: AbortSignal): Promise<readonly Finding[]> {
  return await Promise.all(
    checks.map(async (check): Promise<Finding> => {
      try {
        const found = await check.look(host, signal);
        if (found.isGood) return { check: check.name, result: 'good', detail: found.detail, mend: undefined };
        return { check: check.name, result: check.isAdvice ? 'advice' : 'bad', detail: found.detail, mend: check.mend };
      } catch (error) {
        if (signal.aborted) throw error;
        return { check: check.name, result: check.isAdvice ? 'advice' : 'bad', detail: messageOf(error), mend: check.mend };
      }
    }),
  );
}
