import type { NodeAddress } from '#api/types/core-v1.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { certificateFiles } from './certificate-files.ts';
import { clientTemplate } from './certificate-templates.ts';
import { keepCertificate } from './keep-certificate.ts';
import { openServerIdentity, type ServerTls } from './server-identity.ts';

/** The kubelet's own certificates: what it shows as a server and, where it is to renew it, as a client. */
export interface Certificates {
  readonly server: Watchable<ServerTls>;
  /** Keeps them until the signal is aborted. Call once. */
  run(addresses: Watchable<readonly NodeAddress[]>, signal: AbortSignal): Promise<void>;
}

export async function createCertificates(config: KubeletConfig, host: KubeletHost, signal: AbortSignal): Promise<Certificates> {
  const { nodeName, certificates } = config;
  const { files, keys, client, clock, logger, random } = host;
  const world = { files, keys, client, clock, logger, random };
  const { serving: source, clientCaFile, directory } = certificates;
  const identity = await openServerIdentity({ ...world, source, clientCaFile, directory, nodeName }, signal);
  const keepClient = async (inner: AbortSignal): Promise<void> => {
    const pair = certificateFiles(files, directory, 'kubelet-client');
    let inUse = (await pair.current(inner))?.certPem; // what the connections were made with
    const template = new Cell(clientTemplate(nodeName));
    const use = (next: { readonly certPem: string; readonly keyPem: string }) => {
      if (next.certPem !== inUse) host.redial(next);
      inUse = next.certPem;
    };
    await keepCertificate({ ...world, files: pair, template, use }, inner);
  };
  return {
    server: identity.tls,
    async run(addresses, inner) {
      await Promise.all([identity.run(addresses, inner), certificates.rotateClient ? keepClient(inner) : undefined]);
    },
  };
}
