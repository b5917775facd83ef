import type { NodeAddress } from '#api/types/core-v1.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { createRenewalCounts } from '../metrics/certificate-metrics.ts';
import { certificateFiles } from './certificate-files.ts';
import { clientTemplate } from './certificate-templates.ts';
import { keepCertificate } from './keep-certificate.ts';
import { openServerIdentity, type ServerTls } from './server-identity.ts';

/** The kubelet's own certificates: what it shows as a server and, where it is to renew it, as a client. */
export interface Certificates {
  readonly server: Watchable<ServerTls>;
  /** Of the connections to the API server, in PEM; `undefined` where the kubelet does not keep it. */
  readonly client: Watchable<string | undefined>;
  /** Keeps them until the signal is aborted. Call once. */
  run(addresses: Watchable<readonly NodeAddress[]>, signal: AbortSignal): Promise<void>;
}

export async function createCertificates(config: KubeletConfig, host: KubeletHost, signal: AbortSignal): Promise<Certificates> {
  const { nodeName, certificates } = config;
  const counts = host.registry === undefined ? undefined : createRenewalCounts(host.registry, host.clock);
  const clientPem = new Cell<string | undefined>(undefined);
  const { files, keys, client, clock, logger, random } = host;
  const world = { files, keys, client, clock, logger, random };
  const { serving: source, clientCaFile, directory } = certificates;
  const identity = await openServerIdentity({ ...world, source, clientCaFile, directory, nodeName, counts: counts?.server }, signal);
  const keepClient = async (inner: AbortSignal): Promise<void> => {
    const pair = certificateFiles(files, directory, 'kubelet-client');
    let inUse = (await pair.current(inner))?.certPem; // what the connections were made with
    const template = new Cell(clientTemplate(nodeName));
    const use = (next: { readonly certPem: string; readonly keyPem: string }) => {
      if (next.certPem !== inUse) host.redial(next);
      inUse = next.certPem;
      clientPem.set(inUse);
    };
    await keepCertificate({ ...world, files: pair, template, use, counts: counts?.client }, inner);
  };
  return {
    server: identity.tls,
    client: clientPem,
    async run(addresses, inner) {
      await Promise.all([identity.run(addresses, inner), certificates.rotateClient ? keepClient(inner) : undefined]);
    },
  };
}
