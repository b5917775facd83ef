import type { Pod } from '#api/types/core-v1.ts';
import { MemoryNode } from './memory-node.ts';

/** A node in memory whose kubelet runs until the test is over. */
export async function startedNode(t: { after(undo: () => Promise<void>): void }, options: { exitLagMs?: number } = {}): Promise<MemoryNode> {
  const node = new MemoryNode(options);
  await node.start();
  t.after(() => node.stop());
  return node;
}

/** Phase, what the first container does or waits for, and how often it was started again. */
export function summary(pod: Pod | undefined): unknown {
  const [container] = pod?.status?.containerStatuses ?? [];
  const state = container?.state;
  const word = state?.waiting?.reason ?? (state?.running === undefined ? state?.terminated?.reason : 'running');
  return [pod?.status?.phase, word, container?.restartCount];
}

/** What the runtime is asked for to start one pod of one container. */
export const startCalls: readonly string[] = ['runPodSandbox', 'createContainer', 'startContainer'];
