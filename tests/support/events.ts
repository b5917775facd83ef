import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import type { TestCluster } from '#testing/create-cluster.ts';

/** Waits, by watching, until somebody has told that of the object, which may have been before. @returns the message */
export async function toldOf(cluster: TestCluster, name: string, reason: string, accept: (message: string) => boolean = () => true): Promise<string> {
  const seen: string[] = [];
  const signal = AbortSignal.timeout(40_000);
  try {
    for await (const one of cluster.client.watch(eventKind, { fieldSelector: `involvedObject.name=${name},reason=${reason}` }, signal)) {
      if (one.type === 'BOOKMARK') continue;
      const { message = '' } = one.object;
      if (accept(message)) return message;
      seen.push(message);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new Error(`nobody told ${reason} of ${name} as expected, but: ${seen.join(' | ')}`);
}
