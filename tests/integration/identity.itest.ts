import assert from 'node:assert/strict';
import { once, setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ApiServerOptions } from '#apiserver/api-server.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClusterSigning } from '#bin/assembly/cluster-signing.ts';
import { createClient } from '#client/api-client.ts';
import { runControllers } from '#controllers/controllers.ts';
import { createAuthority, issueCertificate, YEAR_MS } from '#pki/certificate.ts';
import { kubeconfig } from '#pki/kubeconfig.ts';
import { createServiceAccountKey } from '#pki/service-account-key.ts';
import { runProgram } from '#testing/run-program.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { kubectlOf, outputOf } from '../support/kubectl.ts';

const issuer = 'https://kubernetes.default.svc';
setMaxListeners(0); // as the control plane: one signal ends all controllers

interface Cluster extends AsyncDisposable {
  readonly api: TestApiServer;
  readonly folder: string;
}

/** An API server with its controllers, which sign with the server's own keys. */
async function startCluster(options: Partial<ApiServerOptions> = {}): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-identity-'));
  const serviceAccountKeys = createServiceAccountKey();
  const api = await startApiServer({ serviceAccountKeys, serviceAccountIssuer: issuer, ...options });
  const keys = { caPem: api.caPem, readCaKey: async () => api.caKeyPem, serviceAccountKeys, serviceAccountIssuer: issuer };
  const signing = createClusterSigning(keys, systemClock);
  const stop = new AbortController();
  const clientAs = (name: string, groups: readonly string[] = []) => createClient(api.server.transportAs({ name, groups }));
  const clients = {
    reading: clientAs('system:kube-controller-manager'),
    as: (account: string) =>
      clientAs(`system:serviceaccount:kube-system:${account}`, ['system:serviceaccounts', 'system:serviceaccounts:kube-system']),
  };
  const controllers = runControllers(clients, { clock: systemClock, logger: silentLogger, rootCaPem: api.caPem, signing }, stop.signal);
  return {
    api,
    folder,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await controllers;
      await api[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A key and a request of openssl's. */
async function requestOf(folder: string, subject: string): Promise<{ readonly keyPem: string; readonly request: string }> {
  const [key, csr] = [join(folder, 'a.key'), join(folder, 'a.csr')];
  outputOf(
    await runProgram(
      [
        'openssl',
        'req',
        '-new',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-subj',
        subject,
        '-keyout',
        key,
        '-out',
        csr,
      ],
      10_000,
    ),
  );
  const read = async (file: string) => outputOf(await runProgram(['cat', file], 10_000));
  return { keyPem: await read(key), request: Buffer.from(await read(csr)).toString('base64') };
}

async function csrFile(folder: string, name: string, request: string): Promise<string> {
  const file = join(folder, `${name}.json`);
  const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], expirationSeconds: 3600 };
  await writeFile(file, JSON.stringify({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name }, spec }));
  return file;
}

async function withToken(api: TestApiServer, folder: string, token: string): Promise<string> {
  const file = join(folder, 'token.kubeconfig');
  const server = `https://127.0.0.1:${api.port}`;
  const cluster = { name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(api.caPem).toString('base64') } };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', clusters: [cluster], users: [{ name: 'u', user: { token } }] },
    ...{ contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' },
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

test('a request that kubectl approves becomes a certificate that logs in; one that it denies does not', async () => {
  await using cluster = await startCluster();
  const { api, folder } = cluster;
  const kubectl = kubectlOf(api.kubeconfigFile);
  const { keyPem, request: wanted } = await requestOf(folder, '/O=dev/CN=jane');
  outputOf(await kubectl(`apply -f ${await csrFile(folder, 'jane', wanted)}`));
  assert.match(outputOf(await kubectl('get csr jane')), /kube-apiserver-client\s+admin\s+60m\s+Pending/);
  outputOf(await kubectl('certificate approve jane'));
  outputOf(await kubectl(['wait', 'csr/jane', '--for=jsonpath={.status.certificate}', '--timeout=20s']));
  const certPem = Buffer.from(outputOf(await kubectl(['get', 'csr', 'jane', '-o', 'jsonpath={.status.certificate}'])), 'base64').toString();
  const file = join(folder, 'jane.kubeconfig');
  const config = { server: `https://127.0.0.1:${api.port}`, caPem: api.caPem, certPem, keyPem, clusterName: 'c', user: 'jane' };
  await writeFile(file, kubeconfig(config), { mode: 0o600 });
  const whoami = JSON.parse(outputOf(await kubectlOf(file)('auth whoami -o json')));
  assert.deepEqual([whoami.status.userInfo.username, whoami.status.userInfo.groups], ['jane', ['dev', 'system:authenticated']]);
  outputOf(await kubectl(`apply -f ${await csrFile(folder, 'other', wanted)}`));
  outputOf(await kubectl('certificate deny other'));
  assert.match(outputOf(await kubectl('get csr other')), /Denied/);
  const masters = await requestOf(folder, '/O=system:masters/CN=eve');
  const refused = await kubectl(`apply -f ${await csrFile(folder, 'eve', masters.request)}`);
  assert.match(refused.stderr, /use of kubernetes\.io\/kube-apiserver-client signer with system:masters group is not allowed/);
});

test('a token that kubectl creates logs in as its account, also in a Secret', async () => {
  await using cluster = await startCluster();
  const { api, folder } = cluster;
  const kubectl = kubectlOf(api.kubeconfigFile);
  outputOf(await kubectl('create serviceaccount robot'));
  const token = outputOf(await kubectl('create token robot')).trim();
  const whoami = async (text: string) =>
    JSON.parse(outputOf(await kubectlOf(await withToken(api, folder, text))('auth whoami -o json'))).status.userInfo;
  const user = await whoami(token);
  assert.deepEqual(
    [user.username, user.groups],
    ['system:serviceaccount:default:robot', ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']],
  );
  const secret = {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token' },
    metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
  };
  await writeFile(join(folder, 's.json'), JSON.stringify(secret));
  outputOf(await kubectl(`apply -f ${join(folder, 's.json')}`));
  outputOf(await kubectl(['wait', 'secret/s', '--for=jsonpath={.data.token}', '--timeout=20s']));
  const stored = JSON.parse(outputOf(await kubectl('get secret s -o json')));
  const old = Buffer.from(stored.data.token, 'base64').toString();
  assert.equal((await whoami(old)).username, 'system:serviceaccount:default:robot');
  assert.equal(Buffer.from(stored.data['ca.crt'], 'base64').toString(), api.caPem);
  outputOf(await kubectl('delete serviceaccount robot'));
  outputOf(await kubectl('wait secret/s --for=delete --timeout=20s'));
  const gone = await kubectlOf(await withToken(api, folder, token))('get pods');
  assert.match(gone.stderr, /You must be logged in|Unauthorized/);
});

test('kubectl takes on other users for those who may', async () => {
  await using api = await startApiServer();
  const kubectl = kubectlOf(api.kubeconfigFile);
  const whoami = outputOf(await kubectl(['auth', 'whoami', '-o', 'json', '--as=jane', '--as-group=dev', '--as-group=ops', '--as-uid=u1']));
  const { username, groups, uid } = JSON.parse(whoami).status.userInfo;
  assert.deepEqual([username, groups, uid], ['jane', ['dev', 'ops', 'system:authenticated'], 'u1']);
  const jane = kubectlOf(await api.kubeconfigFor('jane', []));
  const refused = await jane('get --raw /api/v1/pods --as=admin');
  assert.match(refused.stderr, /users "admin" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope/);
});

test('a front proxy speaks for others, and only with a certificate of its own authority', async () => {
  const proxies = await createAuthority({ commonName: 'front-proxy-ca', clock: systemClock });
  const issue = { organizations: [], dnsNames: [], ipAddresses: [], usages: 'client', validMs: YEAR_MS, clock: systemClock } as const;
  const front = await issueCertificate({ ...issue, authority: proxies, commonName: 'front-proxy-client' });
  await using api = await startApiServer({}, { proxyCa: proxies.certPem });
  const client = await api.clientCertificate('bob', []);
  const review = async (certificate: { readonly certPem: string; readonly keyPem: string }) => {
    const outgoing = request({
      ...{ host: '127.0.0.1', port: api.port, ca: api.caPem, agent: false, cert: certificate.certPem, key: certificate.keyPem },
      ...{ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews' },
      headers: { 'content-type': 'application/json', 'x-remote-user': 'carol', 'x-remote-group': 'dev', 'x-remote-extra-scopes': 'read' },
    });
    outgoing.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}');
    const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString()).status.userInfo;
  };
  assert.deepEqual(await review(front), { username: 'carol', groups: ['dev', 'system:authenticated'], extra: { scopes: ['read'] } });
  assert.equal((await review(client)).username, 'bob');
});
