import type { Rule } from './authorizer.ts';

const read = ['get', 'list', 'watch'];
const events: readonly Rule[] = [{ verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] }];
const askForAccess: readonly Rule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews', 'localsubjectaccessreviews'] },
];
const publicPaths = ['/healthz', '/livez', '/readyz', '/healthz/*', '/livez/*', '/readyz/*', '/version', '/version/'];

/** Upstream's role `system:public-info-viewer`. */
export const everybody: readonly Rule[] = [{ verbs: ['get', 'head'], nonResourceURLs: publicPaths }];

/** Upstream's roles `system:discovery` and `system:basic-user`. */
export const everybodyAuthenticated: readonly Rule[] = [
  ...everybody,
  { verbs: ['get', 'head'], nonResourceURLs: ['/', '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'] },
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];

/** Members of `system:serviceaccounts`: how others can check the tokens that we issue. */
export const serviceAccounts: readonly Rule[] = [{ verbs: ['get'], nonResourceURLs: ['/.well-known/openid-configuration', '/openid/v1/jwks'] }];

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

/** Upstream's role `system:kube-scheduler`, as far as the kinds exist. */
export const scheduler: readonly Rule[] = [
  ...askForAccess,
  ...events,
  { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  { verbs: [...read, 'delete'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['create'], apiGroups: [''], resources: ['bindings', 'pods/binding'] },
  { verbs: ['patch', 'update'], apiGroups: [''], resources: ['pods/status'] },
  {
    verbs: read,
    apiGroups: ['*'],
    resources: ['nodes', 'namespaces', 'services', 'persistentvolumes', 'persistentvolumeclaims', 'replicationcontrollers'],
  },
  { verbs: read, apiGroups: ['*'], resources: ['replicasets', 'statefulsets', 'poddisruptionbudgets', 'priorityclasses'] },
  { verbs: read, apiGroups: ['storage.k8s.io'], resources: ['*'] },
  { verbs: ['patch', 'update'], apiGroups: [''], resources: ['persistentvolumes', 'persistentvolumeclaims'] },
];

/** What our controllers do; upstream gives each controller an account and a role of its own. */
export const controllerManager: readonly Rule[] = [
  ...askForAccess,
  ...events,
  { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  { verbs: [...read, 'delete', 'deletecollection'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: [''], resources: ['configmaps', 'secrets', 'serviceaccounts', 'services', 'endpoints'] },
  { verbs: ['update', 'patch'], apiGroups: [''], resources: ['nodes', 'nodes/status', 'pods', 'pods/status', 'namespaces', 'namespaces/status'] },
  { verbs: ['update'], apiGroups: [''], resources: ['namespaces/finalize'] },
  { verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token', 'pods/eviction', 'pods'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: ['apps', 'batch', 'discovery.k8s.io', 'policy', 'storage.k8s.io'], resources: ['*'] },
];
