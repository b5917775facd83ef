import { rbacGroup } from '#api/rules/rbac-bindings.ts';
import type { PolicyRule, Subject } from '#api/types/rbac-v1.ts';
import { controllerRoles } from './controller-roles.ts';
import { events, may, read } from './rule.ts';

const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' });

/** Who has which role in the whole cluster, by the name of the binding, which mostly is that of the role. */
export const clusterBindings: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:monitoring': [group('system:monitoring')],
  'system:discovery': [group('system:authenticated')],
  'system:basic-user': [group('system:authenticated')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [account('kube-dns')],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  // There to be found by those who look for it; the Node authorizer allows what nodes need.
  'system:node': [],
  'kubernode:apiserver-kubelet-client': [user('kube-apiserver-kubelet-client')],
  ...Object.fromEntries(Object.keys(controllerRoles).map((name) => [`system:controller:${name}`, [account(name)]])),
};

/** What a binding gives that has another name than its role. */
export const rolesOfBindings: Readonly<Record<string, string>> = { 'kubernode:apiserver-kubelet-client': 'system:kubelet-api-admin' };

export interface NamespaceRole {
  readonly namespace: 'kube-system' | 'kube-public';
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  /** Absent: the role's name. */
  readonly binding?: string;
  readonly subjects: readonly Subject[];
}

const leaderLocking = (name: string, ...others: readonly Subject[]): NamespaceRole => ({
  namespace: 'kube-system',
  name: `system::leader-locking-${name}`,
  rules: ['leases', 'leasecandidates'].map((resource) => may('create get list update watch', 'coordination.k8s.io', resource)),
  subjects: [user(`system:${name}`), account(name), ...others],
});

/** Roles of the system's namespaces, each with its binding. */
export const namespaceRoles: readonly NamespaceRole[] = [
  {
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication-reader',
    rules: [may(read, 'core', 'configmaps', 'extension-apiserver-authentication')],
    binding: 'system::extension-apiserver-authentication-reader',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
  leaderLocking('kube-controller-manager', account('leader-election-controller')),
  leaderLocking('kube-scheduler'),
  {
    namespace: 'kube-system',
    name: 'system:controller:bootstrap-signer',
    rules: [may(read, 'core', 'secrets')],
    subjects: [account('bootstrap-signer')],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    rules: [may('create get list watch', 'core', 'configmaps')],
    subjects: [account('cloud-provider')],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    rules: [may('delete get list watch', 'core', 'secrets'), events],
    subjects: [account('token-cleaner')],
  },
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    rules: [may(read, 'core', 'configmaps'), may('update', 'core', 'configmaps', 'cluster-info'), events],
    subjects: [account('bootstrap-signer')],
  },
];
