import { semanticEqual } from '#api/deep-equal.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { firstReference } from '#api/pod/references.ts';
import { quote } from '#api/quote.ts';
import { notFound } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { ObjectReader } from '../../request/route.ts';
import type { AdmissionRequest } from '../admission.ts';
import { refuse } from './refuse.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** The casts of this file are true because the schema, or the index of pods, has read them. */
export function checkPod(node: string, request: AdmissionRequest, objects: ObjectReader): void {
  const pod = request.object as Pod;
  const name = quote(node);
  switch (request.operation) {
    case 'CREATE':
      checkMirror(node, pod, request, objects);
      break;
    case 'DELETE':
      if (pod.spec?.nodeName !== node) refuse(request, `node ${name} can only delete pods with spec.nodeName set to itself`);
      break;
    case 'UPDATE':
      refuse(request, `unexpected operation "UPDATE", node ${name} can only create and delete mirror pods`);
  }
}

export function checkPodStatus(node: string, request: AdmissionRequest): void {
  const name = quote(node);
  if (request.operation !== 'UPDATE') refuse(request, `unexpected operation ${quote(request.operation)}`);
  const [next, previous] = [request.object as Pod, (request.previous ?? request.object) as Pod];
  if (previous.spec?.nodeName !== node) refuse(request, `node ${name} can only update pod status for pods with spec.nodeName set to itself`);
  if (!semanticEqual(next.metadata.labels ?? {}, previous.metadata.labels ?? {})) {
    refuse(request, `node ${name} cannot update labels through pod status`);
  }
  if (!semanticEqual(next.status?.resourceClaimStatuses ?? [], previous.status?.resourceClaimStatuses ?? [])) {
    refuse(request, `node ${name} cannot update resource claim statues`); // upstream's spelling
  }
}

export function checkEviction(node: string, request: AdmissionRequest): void {
  const pod = request.object as Pod;
  if (pod.spec?.nodeName !== node) refuse(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

/** What a node creates must be the mirror of a pod that it has from its own files, and lead it to nothing. */
function checkMirror(node: string, pod: Pod, request: AdmissionRequest, objects: ObjectReader): void {
  const name = quote(node);
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    refuse(request, `pod does not have ${quote(mirrorAnnotation)} annotation, node ${name} can only create mirror pods`);
  }
  if (pod.spec?.nodeName !== node) refuse(request, `node ${name} can only create pods with spec.nodeName set to itself`);
  checkOwner(node, pod, request, objects);
  const reference = firstReference(pod);
  if (reference !== undefined) refuse(request, `node ${name} can not create pods that reference ${reference}`);
}

function checkOwner(node: string, { metadata }: Pod, request: AdmissionRequest, objects: ObjectReader): void {
  const can = `node ${quote(node)} can only create pods with`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) refuse(request, `${can} a single owner reference set to itself`);
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) refuse(request, `${can} an owner reference set to itself`);
  if (owner.controller !== true) refuse(request, `${can} a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) refuse(request, `node ${quote(node)} must not set blockOwnerDeletion on an owner reference`);
  const registered = objects.get(nodeKind, '', node);
  if (registered === undefined) throw notFound(nodeKind, node);
  const { uid } = registered.metadata;
  if (owner.uid !== uid) refuse(request, `node ${node} UID mismatch: expected ${uid} got ${owner.uid}`);
}
