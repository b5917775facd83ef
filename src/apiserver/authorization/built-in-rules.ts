import type { Rule } from './authorizer.ts';

const read = ['get', 'list', 'watch'];
const events: readonly Rule[] = [{ verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] }];
const askForAccess: readonly Rule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews', 'localsubjectaccessreviews'] },
];
/** What a kubelet needs, whatever its node's name. */
export const nodes: readonly Rule[] = [
  ...askForAccess,
  ...events,
  { verbs: read, apiGroups: [''], resources: ['pods', 'nodes', 'services', 'configmaps', 'secrets', 'endpoints'] },
  { verbs: read, apiGroups: [''], resources: ['persistentvolumes', 'persistentvolumeclaims', 'serviceaccounts'] },
  { verbs: read, apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
  { verbs: read, apiGroups: ['storage.k8s.io'], resources: ['csidrivers', 'csinodes', 'volumeattachments'] },
  { verbs: ['create'], apiGroups: [''], resources: ['nodes', 'pods', 'serviceaccounts/token', 'pods/eviction'] },
  { verbs: ['delete'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['update', 'patch'], apiGroups: [''], resources: ['pods/status'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: ['kubernode.dev'], resources: ['podstartups'] },
  { verbs: ['create', ...read], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
];

/** What a kubelet may do to the objects that carry its own node's name. */
export function ownNode(nodeName: string): readonly Rule[] {
  const resourceNames = [nodeName];
  return [
    { verbs: ['update', 'patch'], apiGroups: [''], resources: ['nodes', 'nodes/status'], resourceNames },
    { verbs: ['get', 'update', 'patch', 'delete'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames },
    { verbs: ['create'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
    { verbs: ['get', 'create', 'update', 'patch', 'delete'], apiGroups: ['storage.k8s.io'], resources: ['csinodes'], resourceNames },
    { verbs: ['create'], apiGroups: ['storage.k8s.io'], resources: ['csinodes'] },
  ];
}
