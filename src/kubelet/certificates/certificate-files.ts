import type { FilesPort } from '../ports/files.ts';
import type { KeyAndCertificate } from '../ports/keys.ts';

/** Where a kubelet keeps a certificate with its key: `<pair>-<time>.pem`, and the link `<pair>-current.pem` to the one in use. */
export interface CertificateFiles {
  /** Path of the link. */
  readonly currentPath: string;
  /** @returns `undefined` when there is none, or one that has lost its key */
  current(signal: AbortSignal): Promise<KeyAndCertificate | undefined>;
  save(pair: KeyAndCertificate, nowMs: number, signal: AbortSignal): Promise<void>;
  /** The key of a request that has no answer yet: after a restart the same one is asked for again. */
  pendingKey(signal: AbortSignal): Promise<string | undefined>;
  keepPendingKey(keyPem: string, signal: AbortSignal): Promise<void>;
  dropPendingKey(signal: AbortSignal): Promise<void>;
}

export type CertificatePair = 'kubelet-client' | 'kubelet-server';

export function certificateFiles(files: FilesPort, directory: string, pair: CertificatePair): CertificateFiles {
  const currentPath = `${directory}/${pair}-current.pem`;
  const pendingPath = `${directory}/${pair}.key.tmp`;
  const text = async (path: string, signal: AbortSignal) => {
    const bytes = await files.read(path, signal);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
  };
  return {
    currentPath,
    current: async (signal) => splitPem((await text(currentPath, signal)) ?? ''),
    async save({ certPem, keyPem }, nowMs, signal) {
      await files.ensureDirectory(directory, 0o755, signal);
      const path = `${directory}/${pair}-${stampOf(nowMs)}.pem`;
      await files.write(path, `${certPem.trimEnd()}\n${keyPem.trimEnd()}\n`, 0o600, signal);
      await files.link(path, currentPath, signal);
      await files.removeTree(pendingPath, signal);
    },
    pendingKey: (signal) => text(pendingPath, signal),
    dropPendingKey: (signal) => files.removeTree(pendingPath, signal),
    async keepPendingKey(keyPem, signal) {
      await files.ensureDirectory(directory, 0o755, signal);
      await files.write(pendingPath, keyPem, 0o600, signal);
    },
  };
}

/** Certificates and key of one file, in any order. */
export function splitPem(text: string): KeyAndCertificate | undefined {
  const blocks = text.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g) ?? [];
  const certificates = blocks.filter((block) => block.startsWith('-----BEGIN CERTIFICATE-----'));
  const key = blocks.find((block) => /^-----BEGIN ([A-Z0-9]+ )?PRIVATE KEY-----/.test(block));
  return certificates.length === 0 || key === undefined ? undefined : { certPem: `${certificates.join('\n')}\n`, keyPem: `${key}\n` };
}

/** `2026-12-02-10-34-11`, in UTC. */
function stampOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replace(/[T:]/g, '-');
}
