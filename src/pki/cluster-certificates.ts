import type { CertificateRequest } from './certificate.ts';

/** What a certificate of a cluster says; the authority, the clock and the lifetime are added when it is issued. */
export type CertificateSubject = Omit<CertificateRequest, 'authority' | 'clock' | 'validMs'>;

export interface ClusterIdentity {
  /** Kubernetes name of this host's node. */
  readonly nodeName: string;
  /** Addresses under which others reach this host, without loopback. */
  readonly hostAddresses: readonly string[];
  /** First address of the service range: the `kubernetes` Service. */
  readonly firstServiceAddress: string;
}

/** By their use; the key is a good file name. */
export type ClusterCertificateName =
  | 'apiserver'
  | 'admin'
  | 'scheduler'
  | 'controllers'
  | 'kubelet-client'
  | 'kubelet-server'
  | 'apiserver-kubelet-client';

/** Every certificate that the cluster's authority issues, with upstream's users and groups. */
export function clusterCertificates(cluster: ClusterIdentity): Readonly<Record<ClusterCertificateName, CertificateSubject>> {
  const loopback = ['127.0.0.1', '::1'];
  return {
    apiserver: {
      commonName: 'kube-apiserver',
      organizations: [],
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', cluster.nodeName],
      ipAddresses: distinct([...loopback, ...cluster.hostAddresses, cluster.firstServiceAddress]),
      usages: 'server',
    },
    admin: client('kubernetes-admin', ['system:masters']),
    scheduler: client('system:kube-scheduler', []),
    controllers: client('system:kube-controller-manager', []),
    'kubelet-client': client(`system:node:${cluster.nodeName}`, ['system:nodes']),
    'kubelet-server': {
      commonName: `system:node:${cluster.nodeName}`,
      organizations: ['system:nodes'],
      dnsNames: ['localhost', cluster.nodeName],
      ipAddresses: distinct([...loopback, ...cluster.hostAddresses]),
      usages: 'server',
    },
    // A role says what it may ask of a kubelet: it is nobody's master.
    'apiserver-kubelet-client': client('kube-apiserver-kubelet-client', []),
  };
}

function client(commonName: string, organizations: readonly string[]): CertificateSubject {
  return { commonName, organizations, dnsNames: [], ipAddresses: [], usages: 'client' };
}

function distinct(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses)];
}
