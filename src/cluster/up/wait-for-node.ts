import type { KindRef } from '#api/kind.ts';
import type { Node, NodeCondition } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import { AppError, DeadlineExceeded, messageOf, Unavailable } from '#base/errors.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport } from '#wire/http/transport.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';

const nodes: KindRef<Node> = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' };

/** @throws {Unavailable} after `atMostMs`, with the node's own word on why it is not ready */
export async function waitForNode(kubeconfigPath: string, nodeName: string, atMostMs: number, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const text = await host.files.readText(kubeconfigPath);
  const transport = createHttpTransport(readKubeconfig(text ?? ''));
  let why = 'it has not registered';
  try {
    await withDeadline('node', atMostMs, host.clock, signal, async (inner) => {
      const client = createClient(transport);
      for (;;) {
        try {
          if (await watchUntilReady(client, nodeName, inner, (reason) => (why = reason))) return;
        } catch (error) {
          if (!(error instanceof AppError) || error.retry === 'never') throw error;
          why = messageOf(error);
        }
        await host.clock.sleep(20, inner); // the server ended the watch, or is being started again
      }
    });
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw new Unavailable({
      message: `node ${nodeName} is not Ready after ${atMostMs / 1000} s: ${why}`,
      hint: 'see kubelet.log in the data folder',
      cause: error,
    });
  } finally {
    await transport.close();
  }
}

async function watchUntilReady(client: Client, nodeName: string, signal: AbortSignal, onReason: (reason: string) => void): Promise<boolean> {
  const fieldSelector = `metadata.name=${nodeName}`;
  const listed = await client.list(nodes, { fieldSelector }, signal);
  if (listed.items.some((node) => isReady(node, onReason))) return true;
  for await (const event of client.watch(nodes, { fieldSelector, resourceVersion: listed.resourceVersion }, signal)) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && isReady(event.object, onReason)) return true;
  }
  return false;
}

function isReady(node: Node, onReason: (reason: string) => void): boolean {
  const condition = readyConditionOf(node);
  if (condition?.status === 'True') return true;
  onReason(condition === undefined ? 'it has no Ready condition' : `${condition.reason ?? ''}: ${condition.message ?? ''}`);
  return false;
}

export function readyConditionOf(node: Node): NodeCondition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === 'Ready');
}
