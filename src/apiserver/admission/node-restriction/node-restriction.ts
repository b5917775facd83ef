import { readCertificateRequest } from '#api/certificates/certificate-request.ts';
import { groupResourceOf, type Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import type { CertificateSigningRequest } from '#api/types/certificates-v1.ts';
import type { ResourceSlice } from '#api/types/resource-v1.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { nodeNameOf } from '../../authorization/node/node-identity.ts';
import type { ObjectReader } from '../../request/route.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { checkClaimStatus } from './claim-status.ts';
import { checkNodeObject } from './node-object.ts';
import { checkEviction, checkPod, checkPodStatus } from './pods.ts';
import { refuse } from './refuse.ts';
import { checkTokenRequest } from './token-request.ts';

export interface NodeRestrictionOptions {
  readonly objects: ObjectReader;
  /** Of the server. */
  readonly kinds: readonly Kind[];
  readonly authorizer: Authorizer;
}

const leaseNamespace = 'kube-node-lease';
const kubeletSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

/** Keeps nodes to their own objects, where authorization cannot see what is written. */
export function createNodeRestriction(options: NodeRestrictionOptions): AdmissionPlugin {
  const nodeOf = (request: AdmissionRequest) => {
    const node = nodeNameOf(request.user);
    if (node === '') refuse(request, `could not determine node from user ${quote(request.user.name)}`);
    return node;
  };
  return {
    name: 'NodeRestriction',
    mutate: async (request) => {
      const node = nodeOf(request);
      if (node !== undefined) await check(node, request, options);
      return request.object;
    },
    validate: (request) => {
      if (request.subresource !== 'eviction') return; // only evictions are no writes of their object
      const node = nodeOf(request);
      if (node !== undefined) checkEviction(node, request);
    },
  };
}

async function check(node: string, request: AdmissionRequest, options: NodeRestrictionOptions): Promise<void> {
  switch (groupResourceOf(request.kind)) {
    case 'pods':
      return checkPods(node, request, options.objects);
    case 'nodes':
      return checkNodeObject(node, request);
    case 'persistentvolumeclaims':
      return checkClaimStatus(node, request);
    case 'serviceaccounts':
      return checkTokenRequest(node, request, options);
    case 'leases.coordination.k8s.io':
      return checkLease(node, request);
    case 'csinodes.storage.k8s.io':
      if (nameOf(request) !== node) refuse(request, 'can only access CSINode with the same name as the requesting node');
      return undefined;
    case 'resourceslices.resource.k8s.io':
      return checkResourceSlice(node, request);
    case 'certificatesigningrequests.certificates.k8s.io':
      return checkCertificateRequest(node, request);
    default:
      return undefined;
  }
}

function checkPods(node: string, request: AdmissionRequest, objects: ObjectReader): void {
  switch (request.subresource) {
    case '':
      checkPod(node, request, objects);
      break;
    case 'status':
      checkPodStatus(node, request);
      break;
    case 'eviction':
      checkEviction(node, request);
      break;
    default:
      refuse(request, `unexpected pod subresource ${quote(request.subresource)}, only 'status' and 'eviction' are allowed`);
  }
}

function checkLease(node: string, request: AdmissionRequest): void {
  if (request.namespace !== leaseNamespace) refuse(request, `can only access leases in the ${quote(leaseNamespace)} system namespace`);
  if (nameOf(request) !== node) refuse(request, 'can only access node lease with the same name as the requesting node');
}

function checkResourceSlice(node: string, request: AdmissionRequest): void {
  const { spec } = request.object as ResourceSlice; // its schema has read it
  if (spec?.nodeName === node) return;
  if (request.operation === 'CREATE') refuse(request, 'can only create ResourceSlice with the same NodeName as the requesting node');
  if (request.operation === 'DELETE') refuse(request, 'can only delete ResourceSlice with the same NodeName as the requesting node');
}

/** The rest of a node's request is looked at by those who approve it. */
async function checkCertificateRequest(node: string, request: AdmissionRequest): Promise<void> {
  const { spec } = request.object as CertificateSigningRequest; // its schema has read it
  if (request.operation !== 'CREATE' || !kubeletSigners.includes(spec?.signerName ?? '')) return;
  const content = await readCertificateRequest(spec.request ?? '');
  if (content === undefined) refuse(request, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
  if (content.commonName !== `system:node:${node}`) refuse(request, `can only create a node CSR with CN=system:node:${node}`);
}

/** A new object is named by its body. */
function nameOf({ name, object }: AdmissionRequest): string {
  return name || object.metadata.name;
}
