import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Client } from '#client/client.ts';
import { createInformer, type InformerDependencies } from '#client/informer.ts';
import type { Informer } from '#client/informer-port.ts';

export interface PodSink {
  upsert(pod: Pod): void;
  removed(podUid: string): void;
}

/** The pods that the API server has for this node. */
export function createPodInformer(client: Client, nodeName: string, deps: InformerDependencies): Informer<Pod> {
  return createInformer(client, podKind, { fieldSelector: `spec.nodeName=${nodeName}` }, deps);
}

/** Hands every change on; those that are there already in the order of their creation. The result ends it. */
export function feedPods(informer: Informer<Pod>, sink: PodSink): () => void {
  const byCreation = (a: Pod, b: Pod) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp);
  for (const pod of [...informer.list()].sort(byCreation)) sink.upsert(pod);
  return informer.subscribe((change) => {
    if (change.type === 'deleted') return sink.removed(change.object.metadata.uid);
    // A pod of the same name may have taken its place between two lists.
    if (change.type === 'updated' && change.previous.metadata.uid !== change.object.metadata.uid) sink.removed(change.previous.metadata.uid);
    sink.upsert(change.object);
  });
}
