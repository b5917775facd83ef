export interface NodeKubeconfig {
  /** `https://host:port` */
  readonly server: string;
  readonly caPem: string | undefined;
  readonly serverName: string | undefined;
  readonly insecureSkipVerify: boolean;
  /** File with the certificate and its key: it is replaced when they are renewed, the kubeconfig stays. */
  readonly certificatePath: string;
}

/** The kubeconfig of a kubelet whose certificate lies in a file of its own. JSON, which is YAML. */
export function nodeKubeconfig(content: NodeKubeconfig): string {
  const { server, caPem, serverName, insecureSkipVerify, certificatePath } = content;
  const cluster = {
    server,
    ...(caPem === undefined ? {} : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    ...(insecureSkipVerify ? { 'insecure-skip-tls-verify': true } : {}),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default-cluster', cluster }],
    users: [{ name: 'default-auth', user: { 'client-certificate': certificatePath, 'client-key': certificatePath } }],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } }],
    'current-context': 'default-context',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
