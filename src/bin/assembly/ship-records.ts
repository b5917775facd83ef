import type { Clock } from '#base/clock.ts';
import { Unavailable } from '#base/errors.ts';
import type { Transport } from '#client/transport.ts';
import type { BatchAnswer, PodStartupBatch } from '#startup/pod-startup.ts';

/** How long an API server without start-up records is left alone: it may be replaced by one that takes them. */
const leftAloneMs = 600_000;

/** Start-up records are no objects of the API: a batch goes to their collection as it is. An API server that does not serve it is not asked again soon. */
export function shipRecords(transport: Transport, clock: Clock): (batch: PodStartupBatch, signal: AbortSignal) => Promise<BatchAnswer> {
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return async (batch, signal) => {
    if (clock.monotonic() < notBeforeMs) return { isWatched: false };
    const request = {
      method: 'POST',
      path: '/apis/kubernode.dev/v1/podstartups',
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(batch),
    } as const;
    const { status, body } = await transport.send(request, signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    if (status === 404 || status === 403 || status === 405) {
      notBeforeMs = clock.monotonic() + leftAloneMs;
      return { isWatched: false };
    }
    if (status >= 300) throw new Unavailable({ message: `start-up records are not taken: HTTP ${status}` });
    const answer: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return { isWatched: typeof answer === 'object' && answer !== null && 'isWatched' in answer && answer.isWatched === true };
  };
}
