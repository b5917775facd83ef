import { askAboutOthers, events, may, mayPath, type RuleTable, read, readWrite } from './rule.ts';

const publicPaths = '/healthz /livez /readyz /version /version/';

const ofEverybody: RuleTable = {
  'system:discovery': [mayPath('get', `${publicPaths} /openapi /openapi/* /api /api/* /apis /apis/*`)],
  'system:basic-user': [
    may('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    may('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ],
  'system:public-info-viewer': [mayPath('get', publicPaths)],
  'system:monitoring': [
    mayPath('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
    mayPath('get', '/flagz'),
    mayPath('get', '/statusz'),
    may('get', 'core', 'nodes/metrics'),
  ],
  'system:service-account-issuer-discovery': [
    mayPath('get', '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'),
  ],
};

const signerRequest = 'system:certificates.k8s.io:certificatesigningrequests';
const approver = (signer: string) => [may('approve', 'certificates.k8s.io', 'signers', `kubernetes.io/${signer}`)];

const ofSigners: RuleTable = {
  [`${signerRequest}:nodeclient`]: [may('create', 'certificates.k8s.io', 'certificatesigningrequests/nodeclient')],
  [`${signerRequest}:selfnodeclient`]: [may('create', 'certificates.k8s.io', 'certificatesigningrequests/selfnodeclient')],
  'system:certificates.k8s.io:legacy-unknown-approver': approver('legacy-unknown'),
  'system:certificates.k8s.io:kubelet-serving-approver': approver('kubelet-serving'),
  'system:certificates.k8s.io:kube-apiserver-client-approver': approver('kube-apiserver-client'),
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver': approver('kube-apiserver-client-kubelet'),
};

const ofParts: RuleTable = {
  'system:auth-delegator': askAboutOthers,
  'system:kube-aggregator': [may(read, 'core', 'endpoints services')],
  'system:kube-dns': [may('list watch', 'core', 'endpoints services')],
  'system:heapster': [may(read, 'core', 'events namespaces nodes pods'), may(read, 'extensions', 'deployments')],
  'system:kube-controller-manager': [
    events,
    may('create', 'coordination.k8s.io', 'leases'),
    may('get update', 'coordination.k8s.io', 'leases', 'kube-controller-manager'),
    may('create', 'core', 'secrets serviceaccounts'),
    may('delete', 'core', 'secrets'),
    may('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
    may('update', 'core', 'secrets serviceaccounts'),
    ...askAboutOthers,
    may('list watch', '*', '*'),
    may('create', 'core', 'serviceaccounts/token'),
  ],
  'system:kube-scheduler': [
    events,
    may('create', 'coordination.k8s.io', 'leases'),
    may('get list update watch', 'coordination.k8s.io', 'leases', 'kube-scheduler'),
    may(readWrite, 'coordination.k8s.io', 'leasecandidates'),
    may(read, 'core', 'nodes'),
    may('delete get list watch', 'core', 'pods'),
    may('create', 'core', 'bindings pods/binding'),
    may('patch update', 'core', 'pods/status'),
    may(read, 'core', 'replicationcontrollers services'),
    may(read, 'apps extensions', 'replicasets'),
    may(read, 'apps', 'statefulsets'),
    may(read, 'policy', 'poddisruptionbudgets'),
    may(read, 'core', 'persistentvolumeclaims persistentvolumes'),
    ...askAboutOthers,
    may(read, 'storage.k8s.io', 'csinodes'),
    may(read, 'storage.k8s.io', 'volumeattachments'),
    may(read, 'core', 'namespaces'),
    may(read, 'storage.k8s.io', 'csidrivers'),
    may(read, 'storage.k8s.io', 'csistoragecapacities'),
    may(read, 'resource.k8s.io', 'deviceclasses'),
    may('get list patch update watch', 'resource.k8s.io', 'resourceclaims'),
    may('create delete', 'resource.k8s.io', 'resourceclaims'),
    may('patch update', 'resource.k8s.io', 'resourceclaims/binding resourceclaims/status'),
    may('update', 'core', 'pods/finalizers'),
    may(read, 'resource.k8s.io', 'resourceslices'),
  ],
  'system:volume-scheduler': [
    may('get list patch update watch', 'core', 'persistentvolumes'),
    may(read, 'storage.k8s.io', 'storageclasses'),
    may('get list patch update watch', 'core', 'persistentvolumeclaims'),
  ],
  'system:persistent-volume-provisioner': [
    may('create delete get list watch', 'core', 'persistentvolumes'),
    may('get list update watch', 'core', 'persistentvolumeclaims'),
    may(read, 'storage.k8s.io', 'storageclasses'),
    may('watch', 'core', 'events'),
    events,
  ],
};

const ofNodes: RuleTable = {
  'system:node': [
    may('create', 'authentication.k8s.io', 'tokenreviews'),
    may('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
    may(read, 'core', 'services'),
    may('create get list watch', 'core', 'nodes'),
    may('patch update', 'core', 'nodes/status'),
    may('patch update', 'core', 'nodes'),
    may('create patch update', 'core', 'events'),
    may(read, 'core', 'pods'),
    may('create delete', 'core', 'pods'),
    may('patch update', 'core', 'pods/status'),
    may('create', 'core', 'pods/eviction'),
    may(read, 'core', 'configmaps secrets'),
    may('get', 'core', 'persistentvolumeclaims persistentvolumes'),
    may('get', 'core', 'endpoints'),
    may('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
    may('create delete get patch update', 'coordination.k8s.io', 'leases'),
    may('get', 'storage.k8s.io', 'volumeattachments'),
    may('create', 'core', 'serviceaccounts/token'),
    may('get patch update', 'core', 'persistentvolumeclaims/status'),
    may(read, 'storage.k8s.io', 'csidrivers'),
    may('create delete get patch update', 'storage.k8s.io', 'csinodes'),
    may(read, 'node.k8s.io', 'runtimeclasses'),
    may('get', 'resource.k8s.io', 'resourceclaims'),
    may('deletecollection', 'resource.k8s.io', 'resourceslices'),
    may(read, 'certificates.k8s.io', 'clustertrustbundles'),
    may('get', 'core', 'serviceaccounts'),
  ],
  'system:node-bootstrapper': [may('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests')],
  'system:node-problem-detector': [may('get', 'core', 'nodes'), may('patch', 'core', 'nodes/status'), events],
  'system:node-proxier': [
    may('list watch', 'core', 'endpoints services'),
    may(read, 'core', 'nodes'),
    events,
    may('list watch', 'networking.k8s.io', 'servicecidrs'),
    may('list watch', 'discovery.k8s.io', 'endpointslices'),
  ],
  'system:kubelet-api-admin': [
    may(read, 'core', 'nodes'),
    may('proxy', 'core', 'nodes'),
    may('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
    may('*', 'core', 'nodes/configz nodes/healthz nodes/pods'),
  ],
};

/** Roles of the cluster's parts and of everybody who asks it something. */
export const systemRoles: RuleTable = { ...ofEverybody, ...ofSigners, ...ofParts, ...ofNodes };
