import { semanticEqual } from '#api/deep-equal.ts';
import { quote } from '#api/quote.ts';
import type { Node } from '#api/types/core-v1.ts';
import type { AdmissionRequest } from '../admission.ts';
import { refuse } from './refuse.ts';

type Labels = Readonly<Record<string, string>>;

const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const reservedDomain = 'node-restriction.kubernetes.io';
const systemDomains = ['kubernetes.io', 'k8s.io'];

/** A node writes its own Node, but not what steers pods to it or away. */
export function checkNodeObject(node: string, request: AdmissionRequest): void {
  const name = request.name || request.object.metadata.name;
  if (name !== node) refuse(request, `node ${quote(node)} is not allowed to modify node ${quote(name)}`);
  const next = request.object as Node; // the schema has read it
  if (request.operation === 'CREATE') {
    const labels = reservedLabels(next.metadata.labels ?? {}, {});
    if (labels.length > 0) refuse(request, `node ${quote(node)} is not allowed to set the following labels: ${labels.join(', ')}`);
    // A node that names an owner would have itself deleted, and be made anew by whoever it likes.
    if ((next.metadata.ownerReferences ?? []).length > 0) refuse(request, `node ${quote(node)} is not allowed to modify ownerReferences`);
  }
  if (request.operation !== 'UPDATE') return;
  const previous = (request.previous ?? next) as Node;
  if (!semanticEqual(next.spec?.taints ?? [], previous.spec?.taints ?? [])) refuse(request, `node ${quote(node)} is not allowed to modify taints`);
  const labels = reservedLabels(next.metadata.labels ?? {}, previous.metadata.labels ?? {});
  if (labels.length > 0) refuse(request, `is not allowed to modify labels: ${labels.join(', ')}`);
  if (!semanticEqual(next.metadata.ownerReferences ?? [], previous.metadata.ownerReferences ?? [])) {
    refuse(request, `node ${quote(node)} is not allowed to modify ownerReferences`);
  }
}

/** The labels among those that differ that are not a kubelet's to set, sorted. */
function reservedLabels(next: Labels, previous: Labels): readonly string[] {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(previous)])];
  return keys.filter((key) => next[key] !== previous[key] && isReserved(key)).sort();
}

function isReserved(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const isWithin = (domains: readonly string[]) => domains.some((one) => domain === one || domain.endsWith(`.${one}`));
  if (isWithin([reservedDomain])) return true;
  return isWithin(systemDomains) && !kubeletLabels.has(key) && !isWithin(kubeletDomains);
}
