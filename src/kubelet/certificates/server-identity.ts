import type { NodeAddress } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { Client } from '#client/client.ts';
import type { RenewalCounts } from '../metrics/certificate-metrics.ts';
import type { FilesPort } from '../ports/files.ts';
import type { KeyAndCertificate, KeysPort } from '../ports/keys.ts';
import { certificateFiles } from './certificate-files.ts';
import { servingTemplate } from './certificate-templates.ts';
import { keepCertificate } from './keep-certificate.ts';

/** Where the certificate of the kubelet's server comes from. */
export type ServingSource =
  | { readonly kind: 'files'; readonly certFile: string; readonly keyFile: string }
  /** Asked of the cluster, where somebody must approve it; nobody is answered until then. */
  | { readonly kind: 'requested' }
  /** Made at the first start, `kubelet.crt` and `kubelet.key`. */
  | { readonly kind: 'self-signed' };

export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** '': nobody comes in by a certificate. */
  readonly clientCa: string;
}

export interface ServerIdentityOptions {
  readonly source: ServingSource;
  readonly clientCaFile: string | undefined;
  readonly directory: string;
  readonly nodeName: string;
  readonly files: FilesPort;
  readonly keys: KeysPort;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly counts?: RenewalCounts | undefined;
}

/** What the kubelet's server shows of itself, and whom it takes for whom. */
export interface ServerIdentity {
  readonly tls: Watchable<ServerTls>;
  /** Keeps it up to date, until the signal is aborted. Call once. */
  run(addresses: Watchable<readonly NodeAddress[]>, signal: AbortSignal): Promise<void>;
}

/** Upstream's number: files that somebody replaced are taken up within this time. */
const reloadEveryMs = 60_000;

/** @throws {InvalidInput} for a file that is not there */
export async function openServerIdentity(options: ServerIdentityOptions, signal: AbortSignal): Promise<ServerIdentity> {
  const { source, directory, files, keys, nodeName, clock, logger } = options;
  const pairFiles = certificateFiles(files, directory, 'kubelet-server');
  const fromDisk = async (inner: AbortSignal): Promise<KeyAndCertificate> => {
    switch (source.kind) {
      case 'files':
        return { certPem: await textOf(files, source.certFile, inner), keyPem: await textOf(files, source.keyFile, inner) };
      case 'self-signed':
        return await selfSigned(options, inner);
      case 'requested':
        return (await pairFiles.current(inner)) ?? { certPem: '', keyPem: '' };
    }
  };
  const load = async (inner: AbortSignal): Promise<ServerTls> => {
    const { certPem, keyPem } = await fromDisk(inner);
    const clientCa = options.clientCaFile === undefined ? '' : await textOf(files, options.clientCaFile, inner);
    return { cert: certPem, key: keyPem, clientCa };
  };
  const tls = new Cell(await load(signal));
  const reload = async (inner: AbortSignal): Promise<void> => {
    const next = await load(inner);
    const present = tls.get();
    if (next.cert !== present.cert || next.key !== present.key || next.clientCa !== present.clientCa) tls.set(next);
  };
  return {
    tls,
    async run(addresses, inner) {
      const keeping = source.kind === 'requested' ? keepServing(options, addresses, () => reload(inner), inner) : undefined;
      while (!inner.aborted) {
        await clock.sleep(reloadEveryMs, inner).catch(() => undefined); // an aborted wait ends the loop
        if (inner.aborted) break;
        await reload(inner).catch((error: unknown) => logger.warn('certificate files are not readable', { node: nodeName, error: messageOf(error) }));
      }
      await keeping;
    },
  };

  async function keepServing(
    { client, random, counts }: ServerIdentityOptions,
    addresses: Watchable<readonly NodeAddress[]>,
    changed: () => Promise<void>,
    inner: AbortSignal,
  ): Promise<void> {
    const template = new Cell(servingTemplate(nodeName, addresses.get()));
    const unsubscribe = addresses.subscribe((now) => template.set(servingTemplate(nodeName, now)));
    const use = () => void changed().catch((error: unknown) => logger.warn('the new certificate is not readable', { error: messageOf(error) }));
    await keepCertificate({ client, keys, files: pairFiles, template, use, counts, clock, logger, random }, inner).finally(unsubscribe);
  }
}

async function selfSigned({ directory, files, keys, nodeName }: ServerIdentityOptions, signal: AbortSignal): Promise<KeyAndCertificate> {
  const paths = { cert: `${directory}/kubelet.crt`, key: `${directory}/kubelet.key` };
  const [cert, key] = [await files.read(paths.cert, signal), await files.read(paths.key, signal)];
  if (cert !== undefined && key !== undefined) return { certPem: Buffer.from(cert).toString('utf8'), keyPem: Buffer.from(key).toString('utf8') };
  const made = await keys.selfSigned({ commonName: nodeName, organizations: [], dnsNames: [nodeName], ipAddresses: [] });
  await files.ensureDirectory(directory, 0o755, signal);
  await files.write(paths.key, made.keyPem, 0o600, signal);
  await files.write(paths.cert, made.certPem, 0o644, signal); // last: a certificate that is there has its key
  return made;
}

async function textOf(files: FilesPort, path: string, signal: AbortSignal): Promise<string> {
  const bytes = await files.read(path, signal);
  if (bytes === undefined) throw new InvalidInput({ message: `there is no file ${path}`, hint: 'name a file with PEM in it' });
  return Buffer.from(bytes).toString('utf8');
}
