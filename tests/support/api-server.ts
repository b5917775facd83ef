import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds } from '#api/kinds/index.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '#apiserver/api-server.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { type Authority, createAuthority, type IssuedCertificate, issueCertificate } from '#pki/certificate.ts';
import { kubeconfig } from '#pki/kubeconfig.ts';
import { createServiceAccountKey } from '#pki/service-account-key.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import type { Storage } from '#store/storage.ts';

const dayMs = 24 * 3_600_000;

export interface TestApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly storage: Storage;
  readonly port: number;
  readonly caPem: string;
  readonly caKeyPem: string;
  /** Of a member of system:masters. */
  readonly kubeconfigFile: string;
  clientCertificate(user: string, groups: readonly string[]): Promise<IssuedCertificate>;
  /** One that is for servers only. */
  servingCertificate(user: string, groups: readonly string[]): Promise<IssuedCertificate>;
  kubeconfigFor(user: string, groups: readonly string[]): Promise<string>;
}

/** An API server over a store in memory, listening with certificates of its own. */
export async function startApiServer(options: Partial<ApiServerOptions> = {}, tls: { readonly proxyCa?: string } = {}): Promise<TestApiServer> {
  const dir = await mkdtemp(join(tmpdir(), 'kubernode-apiserver-'));
  const authority = await createAuthority({ commonName: 'test-ca', clock: systemClock });
  const serving = await issue(authority, 'kube-apiserver', [], 'server');
  const storage = options.storage ?? createMemoryStorage(systemClock);
  const server = await createApiServer({
    storage,
    clock: systemClock,
    logger: silentLogger,
    kinds,
    tls: { cert: serving.certPem, key: serving.keyPem, clientCa: authority.certPem, ...tls },
    serviceAccountKeys: createServiceAccountKey(),
    serviceAccountIssuer: 'https://kubernetes.default.svc',
    ...options,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const clientCertificate = (user: string, groups: readonly string[]) => issue(authority, user, groups, 'client');
  const kubeconfigFor = async (user: string, groups: readonly string[]) => {
    const { certPem, keyPem } = await clientCertificate(user, groups);
    const file = join(dir, `${user.replaceAll(':', '-')}.kubeconfig`);
    const text = kubeconfig({ server: `https://127.0.0.1:${port}`, caPem: authority.certPem, certPem, keyPem, clusterName: 'test', user });
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  return {
    server,
    storage,
    port,
    caPem: authority.certPem,
    caKeyPem: authority.keyPem,
    kubeconfigFile: await kubeconfigFor('admin', ['system:masters']),
    clientCertificate,
    servingCertificate: (user, groups) => issue(authority, user, groups, 'server'),
    kubeconfigFor,
    async [Symbol.asyncDispose]() {
      await server.close();
      if (options.storage === undefined) await storage.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function issue(
  authority: Authority,
  commonName: string,
  organizations: readonly string[],
  usages: 'client' | 'server',
): Promise<IssuedCertificate> {
  return await issueCertificate({
    authority,
    commonName,
    organizations,
    dnsNames: usages === 'server' ? ['localhost'] : [],
    ipAddresses: usages === 'server' ? ['127.0.0.1'] : [],
    usages,
    validMs: dayMs,
    clock: systemClock,
  });
}
