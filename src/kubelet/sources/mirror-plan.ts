import type { NewObject } from '#api/object.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { staticAnnotation } from './static-annotations.ts';

/** What is known of one full name, `namespace/name`. */
export interface MirrorFacts {
  /** From the node's manifests. */
  readonly pod: Pod | undefined;
  /** One of that name is being taken down: what the mirror tells is its end. */
  readonly isEnding: boolean;
  /** In the API. */
  readonly mirror: Pod | undefined;
  readonly node: Node | undefined;
  /** All manifests are known: a mirror of none of them is of nothing. */
  readonly isReady: boolean;
}

export type MirrorPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'create'; readonly mirror: NewObject<Pod> }
  | { readonly kind: 'delete'; readonly uid: string };

/** A mirror shows the API which static pod runs: it is made, replaced and removed with it. */
export function planMirror({ pod, isEnding, mirror, node, isReady }: MirrorFacts): MirrorPlan {
  if (isEnding) return { kind: 'nothing' };
  if (mirror !== undefined) {
    const { uid, deletionTimestamp, annotations } = mirror.metadata;
    if (pod === undefined) return isReady ? { kind: 'delete', uid } : { kind: 'nothing' };
    const isCurrent = deletionTimestamp === undefined && annotations?.[staticAnnotation.mirror] === pod.metadata.annotations?.[staticAnnotation.hash];
    return isCurrent ? { kind: 'nothing' } : { kind: 'delete', uid };
  }
  const nodeUid = node?.metadata.uid ?? '';
  if (pod === undefined || node === undefined || nodeUid === '' || node.metadata.deletionTimestamp !== undefined) return { kind: 'nothing' };
  return { kind: 'create', mirror: mirrorOf(pod, node.metadata.name, nodeUid) };
}

function mirrorOf({ metadata, spec = { containers: [] } }: Pod, nodeName: string, nodeUid: string): NewObject<Pod> {
  const { uid, resourceVersion: _, creationTimestamp: __, ...given } = metadata;
  const annotations = { ...given.annotations, [staticAnnotation.mirror]: given.annotations?.[staticAnnotation.hash] ?? uid };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid, controller: true }];
  return { metadata: { ...given, annotations, ownerReferences }, spec };
}
