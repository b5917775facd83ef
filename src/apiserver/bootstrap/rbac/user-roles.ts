import { may, mayPath, type RuleTable, read, readWrite, write } from './rule.ts';

/** Roles that people are given; those of `aggregatedRoles` are put together from others. */
export const userRoles: RuleTable = {
  'cluster-admin': [may('*', '*', '*'), mayPath('*', '*')],
  admin: [],
  edit: [],
  view: [],
  'system:aggregate-to-admin': [
    may('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
    may(readWrite, 'rbac.authorization.k8s.io', 'roles rolebindings'),
  ],
  'system:aggregate-to-edit': [
    // To reach into a pod or a service is to act in its name: it is no reading, so `view` has none of it.
    may(read, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    may('impersonate', 'core', 'serviceaccounts'),
    may(write, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    may('create', 'core', 'pods/eviction'),
    may(
      write,
      'core',
      'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    ),
    may('create', 'core', 'serviceaccounts/token'),
    may(write, 'apps', 'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale'),
    may(write, 'autoscaling', 'horizontalpodautoscalers'),
    may(write, 'batch', 'cronjobs jobs'),
    may(
      write,
      'extensions',
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
    ),
    may(write, 'policy', 'poddisruptionbudgets'),
    may(write, 'networking.k8s.io', 'ingresses networkpolicies'),
    may(readWrite, 'coordination.k8s.io', 'leases'),
    may(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
  ],
  'system:aggregate-to-view': [
    may(
      read,
      'core',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale ' +
        'serviceaccounts services services/status',
    ),
    may(
      read,
      'core',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ),
    may(read, 'core', 'namespaces'),
    may(read, 'discovery.k8s.io', 'endpointslices'),
    may(
      read,
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale ' +
        'replicasets/status statefulsets statefulsets/scale statefulsets/status',
    ),
    may(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
    may(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
    may(
      read,
      'extensions',
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets ' +
        'replicasets/scale replicasets/status replicationcontrollers/scale',
    ),
    may(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
    may(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
    may(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  ],
  'kubernode:aggregate-podstartups-to-view': [may(read, 'kubernode.dev', 'podstartups')],
};

/** Which roles put themselves together, and from those with which mark. */
export const aggregatedRoles: Readonly<Record<string, string>> = { admin: 'to-admin', edit: 'to-edit', view: 'to-view' };

/** Which roles are part of others. */
export const partsOfRoles: Readonly<Record<string, string>> = {
  edit: 'to-admin',
  view: 'to-edit',
  'system:aggregate-to-admin': 'to-admin',
  'system:aggregate-to-edit': 'to-edit',
  'system:aggregate-to-view': 'to-view',
  'kubernode:aggregate-podstartups-to-view': 'to-view',
};
