import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { systemClock } from '#base/clock.ts';
import { type Authority, type CertificateRequest, createAuthority, issueCertificate, YEAR_MS } from '#pki/certificate.ts';

const authority = await createAuthority({ commonName: 'kubernetes', clock: systemClock });

async function issue(changes: Partial<CertificateRequest>) {
  return await issueCertificate({
    authority,
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    dnsNames: [],
    ipAddresses: [],
    usages: 'client',
    validMs: YEAR_MS,
    clock: systemClock,
    ...changes,
  });
}

function openssl(args: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pki-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { status, stdout, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('openssl accepts the chain under its strictest rules, for the purpose and the name it was issued for', async () => {
  const server = await issue({ usages: 'server', dnsNames: ['localhost'], ipAddresses: ['10.96.0.1', 'fd00::1'] });
  const files = { 'ca.pem': authority.certPem, 'leaf.pem': server.certPem };
  const verify = (...extra: readonly string[]) => openssl(['verify', '-x509_strict', '-CAfile', 'ca.pem', ...extra, 'leaf.pem'], files);
  assert.match(verify('-purpose', 'sslserver', '-verify_hostname', 'localhost'), /OK/);
  assert.match(verify('-verify_ip', 'fd00::1'), /OK/);
  assert.throws(() => verify('-purpose', 'sslclient'));
  assert.throws(() => verify('-verify_ip', '10.96.0.2'));
});

test('an RSA authority made by openssl can issue too', async () => {
  const made = openssl(
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/O=Old Company/CN=old',
      '-days',
      '9',
      '-addext',
      'keyUsage=keyCertSign',
      '-keyout',
      '-',
    ],
    {},
  );
  const [keyPem = '', certPem = ''] = made.split(/(?=-----BEGIN CERTIFICATE-----)/);
  const leaf = await issue({ authority: { keyPem, certPem } });
  openssl(['verify', '-x509_strict', '-CAfile', 'ca.pem', 'leaf.pem'], { 'ca.pem': certPem, 'leaf.pem': leaf.certPem });
});

test('a server asks for a client certificate and learns the user; a stranger is refused', async () => {
  const serving = await issue({ commonName: 'kube-apiserver', organizations: [], usages: 'server', ipAddresses: ['127.0.0.1'] });
  const stranger = await createAuthority({ commonName: 'kubernetes', clock: systemClock });
  assert.deepEqual(await handshake(serving, await issue({}), authority), { subject: 'kubernetes-admin', authorized: true });
  assert.deepEqual(await handshake(serving, await issue({ authority: stranger }), authority), { subject: 'kubernetes-admin', authorized: false });
  await assert.rejects(handshake(serving, await issue({}), stranger), { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
});

async function handshake(serving: Authority, client: Authority, trusted: Authority): Promise<{ subject: string; authorized: boolean }> {
  const server = createServer({ key: serving.keyPem, cert: serving.certPem, ca: authority.certPem, requestCert: true, rejectUnauthorized: false });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const accepted = new Promise<TLSSocket>((resolve) => server.once('secureConnection', resolve));
  const socket = connect({ port, host: '127.0.0.1', key: client.keyPem, cert: client.certPem, ca: trusted.certPem });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const seen = await accepted;
    return { subject: String(seen.getPeerCertificate().subject.CN), authorized: seen.authorized };
  } finally {
    socket.destroy();
    server.close();
  }
}
