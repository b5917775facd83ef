import type { Rule } from '../authorizer.ts';

/** What every node may do, whichever objects it is about; the rest is decided object by object. */
export const commonNodeRules: readonly Rule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews', 'localsubjectaccessreviews'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['services'] },
  { verbs: ['get'], apiGroups: [''], resources: ['endpoints'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  { verbs: ['create', 'get', 'list', 'watch'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
  // Our kubelet tells how its pods start.
  { verbs: ['create', 'update', 'patch'], apiGroups: ['kubernode.dev'], resources: ['podstartups'] },
];
