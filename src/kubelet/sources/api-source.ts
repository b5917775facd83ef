import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Client } from '#client/client.ts';
import { createInformer, type InformerDependencies } from '#client/informer.ts';
import type { Informer, ObjectChange } from '#client/informer-port.ts';

/** The pods that the API server has for this node. */
export function createPodInformer(client: Client, nodeName: string, deps: InformerDependencies): Informer<Pod> {
  return createInformer(client, podKind, { fieldSelector: `spec.nodeName=${nodeName}` }, deps);
}

/** Hands every change on; those that are there already in the order of their creation. The result ends it. */
export function followPods(informer: Informer<Pod>, changed: (change: ObjectChange<Pod>) => void): () => void {
  const byCreation = (a: Pod, b: Pod) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp);
  for (const object of [...informer.list()].sort(byCreation)) changed({ type: 'added', object });
  return informer.subscribe((change) => {
    // A pod of the same name may have taken its place between two lists.
    if (change.type === 'updated' && change.previous.metadata.uid !== change.object.metadata.uid)
      changed({ type: 'deleted', object: change.previous });
    changed(change);
  });
}
