import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import type { FilesPort } from '../ports/files.ts';
import type { KeysPort } from '../ports/keys.ts';
import { certificateFiles } from './certificate-files.ts';
import { clientTemplate, isValidAt, isWhatIsWanted } from './certificate-templates.ts';
import { orderCertificate } from './keep-certificate.ts';
import { type NodeKubeconfig, nodeKubeconfig } from './node-kubeconfig.ts';

export interface Bootstrapping {
  /** With the rights of a node that is not there yet: a bootstrap token's. */
  readonly client: Client;
  readonly server: Omit<NodeKubeconfig, 'certificatePath'>;
  readonly nodeName: string;
  readonly certificateDirectory: string;
  readonly kubeconfigPath: string;
  readonly files: FilesPort;
  readonly keys: KeysPort;
  readonly clock: Clock;
  readonly logger: Logger;
}

const firstRetryMs = 1_000;
const lastRetryMs = 30_000;

/**
 * Gets the node's first client certificate and writes the kubeconfig that names it. Asks again until it is given one.
 *
 * @returns the text of the kubeconfig
 */
export async function bootstrapKubeconfig(options: Bootstrapping, signal: AbortSignal): Promise<string> {
  const { files, clock, logger, kubeconfigPath } = options;
  const pair = certificateFiles(files, options.certificateDirectory, 'kubelet-client');
  const template = clientTemplate(options.nodeName);
  const present = await pair.current(signal);
  const isGood = present !== undefined && isValidAt(present.certPem, clock.now()) && isWhatIsWanted(present.certPem, template);
  for (let delayMs = firstRetryMs; !isGood; delayMs = Math.min(delayMs * 2, lastRetryMs)) {
    try {
      await orderCertificate({ ...options, files: pair }, template, 'node-csr-', signal);
      break;
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn('the node has no certificate yet', { node: options.nodeName, error: messageOf(error), delayMs });
      await clock.sleep(delayMs, signal);
    }
  }
  const text = nodeKubeconfig({ ...options.server, certificatePath: pair.currentPath });
  await files.write(kubeconfigPath, text, 0o600, signal);
  return text;
}
