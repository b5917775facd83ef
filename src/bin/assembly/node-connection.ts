import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { InvalidInput } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { bootstrapKubeconfig } from '#kubelet/certificates/bootstrap.ts';
import { isValidAt } from '#kubelet/certificates/certificate-templates.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport, type HttpTransportOptions } from '#wire/http/transport.ts';
import { nodeKeys } from './node-keys.ts';

export interface NodeCredentials {
  readonly nodeName: string;
  /** Written by the first start that has a bootstrap kubeconfig. */
  readonly kubeconfigPath: string;
  readonly bootstrapPath: string | undefined;
  readonly certificateDirectory: string;
}

/** How a node reaches its API server: by its kubeconfig if that is good, else it gets a certificate first. @throws {InvalidInput} */
export async function nodeConnection(credentials: NodeCredentials, logger: Logger, signal: AbortSignal): Promise<HttpTransportOptions> {
  const { kubeconfigPath, bootstrapPath, nodeName, certificateDirectory } = credentials;
  const present = existsSync(kubeconfigPath) ? connectionOf(kubeconfigPath) : undefined;
  if (present !== undefined && (bootstrapPath === undefined || isGood(present))) return present;
  if (bootstrapPath === undefined) {
    throw new InvalidInput({
      message: `there is no kubeconfig ${kubeconfigPath}`,
      hint: 'give one as --kubeconfig, or --bootstrap-kubeconfig to get one',
    });
  }
  const bootstrap = connectionOf(bootstrapPath);
  const transport = createHttpTransport({ ...bootstrap, userAgent: 'kubelet/kubernode' });
  try {
    const server = {
      server: bootstrap.server,
      caPem: bootstrap.caPem,
      serverName: bootstrap.serverName,
      insecureSkipVerify: bootstrap.insecureSkipVerify === true,
    };
    const world = { files: createLinuxFiles(), keys: nodeKeys, clock: systemClock, logger };
    await bootstrapKubeconfig({ ...world, client: createClient(transport), server, nodeName, certificateDirectory, kubeconfigPath }, signal);
  } finally {
    await transport.close();
  }
  return connectionOf(kubeconfigPath);
}

function connectionOf(path: string): HttpTransportOptions {
  return readKubeconfig(readText(path), readText);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidInput({ message: `cannot read ${path}`, hint: 'give a file that exists and may be read', cause });
  }
}

/** A certificate that has run out opens no door: the node starts over. */
function isGood({ certPem }: HttpTransportOptions): boolean {
  return certPem === undefined || isValidAt(certPem, systemClock.now());
}
