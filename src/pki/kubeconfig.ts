export interface KubeconfigContent {
  /** `https://host:port` */
  readonly server: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
  readonly clusterName: string;
  readonly user: string;
}

/** A kubeconfig (YAML) with one cluster, one user and everything inline. Holds a private key: its file must be 0600. */
export function kubeconfig(content: KubeconfigContent): string {
  const cluster = JSON.stringify(content.clusterName); // a JSON string is a YAML string
  const user = JSON.stringify(content.user);
  const context = JSON.stringify(`${content.user}@${content.clusterName}`);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${JSON.stringify(content.server)}
    certificate-authority-data: ${base64(content.caPem)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(content.certPem)}
    client-key-data: ${base64(content.keyPem)}
contexts:
- name: ${context}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${context}
preferences: {}
`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
