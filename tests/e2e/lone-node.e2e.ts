import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import type { Node } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { pkiFiles } from '#cluster/pki-files.ts';
import { issueCertificate } from '#pki/certificate.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { freePort } from '../support/free-port.ts';
import { hostSide } from '../support/host-side.ts';
import { kubectlPath, outputOf } from '../support/kubectl.ts';
import { type LoneKubelet, startLoneKubelet } from '../support/lone-kubelet.ts';
import { apply, getPod, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// A control plane without nodes, somebody else's containerd, and `kubernode kubelet` between them: it joins with a bootstrap token.
const name = `t-${randomBytes(4).toString('hex')}`;
const nodeName = 'lone-1';
const folder = await mkdtemp(join(tmpdir(), 'kubernode-'));
const [cluster, runtime] = await Promise.all([startCluster({ nodes: 0, upFlags: ['--timing', 'nodeGraceMs=5000'] }), hostSide()]);
await runtime.up();
const { kubectl } = cluster;
let kubelet: LoneKubelet | undefined;

after(async () => {
  await kubelet?.stop();
  outputOf(await cluster.kubernode('down', '--name', name, '--data-dir', join(folder, 'data'), '--purge'));
  const audit = await cluster.kubernode('audit', '--name', name);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  await rm(folder, { recursive: true, force: true });
});

const dataDir = join(folder, 'data');
const kubeconfig = join(folder, 'kubelet.kubeconfig');
const flags = [
  ...['--name', name, '--data-dir', dataDir],
  ...['--kubeconfig', kubeconfig, '--bootstrap-kubeconfig', join(folder, 'bootstrap.kubeconfig')],
  ...['--config', join(folder, 'kubelet.yaml'), '--config-dir', join(folder, 'conf.d')],
  // As on a node of its own: where it is asked after it came back before the API server knows that.
  ...['--port', String(await freePort())],
  ...['--hostname-override', 'Lone-1', '--node-labels', 'team=blue,topology.kubernetes.io/zone=z1', '--max-pods', '7'],
  ...['--container-runtime-endpoint', `unix:///run/kubernode/${runtime.name}/containerd.sock`],
];

async function prepare(): Promise<void> {
  const { server, caPem = '' } = readKubeconfig(readFileSync(cluster.kubeconfig, 'utf8'));
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
  };
  const binding = (role: string, group: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: role.replaceAll(':', '-') },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  });
  const requests = 'system:certificates.k8s.io:certificatesigningrequests';
  await apply(
    kubectl,
    secret,
    binding('system:node-bootstrapper', 'system:bootstrappers'),
    binding(`${requests}:nodeclient`, 'system:bootstrappers'),
    binding(`${requests}:selfnodeclient`, 'system:nodes'),
  );
  const bootstrap = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    port: 0,
    maxPods: 50,
    nodeStatusUpdateFrequency: '1s',
    nodeLeaseDurationSeconds: 4,
    rotateCertificates: true,
    serverTLSBootstrap: true,
    authentication: { x509: { clientCAFile: join(folder, 'ca.crt') } },
  };
  await mkdir(join(folder, 'conf.d'));
  await Promise.all([
    writeFile(join(folder, 'ca.crt'), caPem),
    writeFile(join(folder, 'bootstrap.kubeconfig'), stringify(bootstrap)),
    writeFile(join(folder, 'kubelet.yaml'), stringify(configuration)),
    writeFile(join(folder, 'conf.d', '10-taint.conf'), stringify({ registerWithTaints: [{ key: 'a', value: '10', effect: 'PreferNoSchedule' }] })),
    writeFile(join(folder, 'conf.d', '20-taint.conf'), stringify({ registerWithTaints: [{ key: 'a', value: '20', effect: 'PreferNoSchedule' }] })),
    writeFile(join(folder, 'conf.d', 'README.md'), 'no configuration'),
  ]);
}

test('a kubelet with a bootstrap token gets its certificate and joins the cluster', async () => {
  await prepare();
  kubelet = startLoneKubelet(flags);
  await kubelet.ready();
  const current = join(dataDir, 'pki', 'kubelet-client-current.pem');
  assert.match(readlinkSync(current), /kubelet-client-\d{4}(-\d\d){5}\.pem$/);
  assert.match(readFileSync(kubeconfig, 'utf8'), /kubelet-client-current\.pem/);
  outputOf(await kubectl(`wait node/${nodeName} --for=condition=Ready --timeout=60s`));
  const { metadata, spec, status } = JSON.parse(outputOf(await kubectl(`get node ${nodeName} -o json`))) as Node;
  assert.deepEqual(
    [metadata.labels?.['kubernetes.io/hostname'], metadata.labels?.['team'], metadata.labels?.['topology.kubernetes.io/zone']],
    [nodeName, 'blue', 'z1'],
  );
  assert.deepEqual(
    spec?.taints?.filter(({ key }) => key === 'a'),
    [{ key: 'a', value: '20', effect: 'PreferNoSchedule' }],
    'later files of the folder count',
  );
  assert.equal(status?.capacity?.['pods'], '7', 'flags count more than files');
});

test('a pod runs there while nobody has approved the certificate of its server', async () => {
  await apply(kubectl, sleeper('guest', {}, { command: ['sh', '-c', 'echo hello; httpd -p 8080 -h /etc; trap "exit 0" TERM; sleep 100000 & wait'] }));
  await waitForPod(kubectl, 'guest');
  assert.equal((await getPod(kubectl, 'guest')).spec?.nodeName, nodeName);
  assert.notEqual((await kubectl('exec guest -- true')).code, 0);
});

test('once it is approved, logs and exec work', async () => {
  const { items } = await cluster.client.list(csrKind, {}, AbortSignal.timeout(10_000));
  const serving = items.filter(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
  assert.deepEqual(
    serving.map(({ spec }) => [spec.username, spec.usages]),
    [[`system:node:${nodeName}`, ['digital signature', 'server auth']]],
  );
  outputOf(await kubectl(`certificate approve ${serving[0]?.metadata.name}`));
  await kubelet?.says(/kubelet-serving.*a certificate was issued/);
  assert.equal(outputOf(await kubectl('logs guest')), 'hello\n');
  assert.equal(outputOf(await kubectl('exec guest -- hostname')), 'guest\n');
  assert.equal(await throughPortForward('guest', '/hostname'), 'guest\n');
  assert.match(outputOf(await cluster.kubernode('audit', '--name', name, '--data-dir', dataDir)), new RegExp(`/kubernode/${name}/`));
});

test('a name that lives, a flag that nobody knows and a foreign label are refused', async () => {
  const refused = async (words: readonly string[]) => await cluster.kubernode('kubelet', ...words).then(({ code, stderr }) => [code, stderr]);
  const [code, said] = await startLoneKubelet(flags).ended();
  assert.deepEqual([code, said.startsWith(`error: the name ${name} is taken on this host`)], [1, true], said);
  assert.deepEqual((await refused(['--pod-infra-container-image=x'])).at(0), 2);
  assert.match(String((await refused(['--no-such-flag', 'x'])).at(1)), /^error: unknown flag: --no-such-flag/);
  const [, foreign = ''] = await startLoneKubelet(['--name', `${name}-x`, '--data-dir', join(folder, 'x'), '--node-labels', 'a.k8s.io/b=c']).ended();
  assert.match(foreign, /unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: \[a\.k8s\.io\/b\]/);
});

test('the kubelet ends and comes back: pods stay, and the certificate it has is used', async () => {
  const before = await getPod(kubectl, 'guest');
  assert.equal(await kubelet?.stop(), 0);
  kubelet = startLoneKubelet(flags);
  await kubelet.ready();
  assert.equal(outputOf(await kubectl('exec guest -- hostname')), 'guest\n');
  const now = await getPod(kubectl, 'guest');
  assert.deepEqual(
    now.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
    before.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
  );
  const { items } = await cluster.client.list(csrKind, {}, AbortSignal.timeout(10_000));
  assert.equal(items.length, 2);
});

test('a client certificate that ends soon is replaced, and the connections are made with the new one', async () => {
  assert.equal(await kubelet?.stop(), 0);
  const pki = pkiFiles(cluster.paths);
  const [certPem, keyPem] = await Promise.all([readFile(pki.caCert, 'utf8'), readFile(pki.caKey, 'utf8')]);
  const names = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] };
  const short = await issueCertificate({ ...names, usages: 'client', authority: { certPem, keyPem }, validMs: 30_000, clock: systemClock });
  const pair = join(dataDir, 'pki', 'kubelet-client-current.pem');
  await rm(pair);
  await writeFile(pair, short.certPem + short.keyPem, { mode: 0o600 });
  kubelet = startLoneKubelet(flags);
  await Promise.all([kubelet.ready(), kubelet.says(/kube-apiserver-client-kubelet.*a certificate was issued/)]);
  const life = new X509Certificate(await readFile(pair)); // the first of the file
  assert.ok(Date.parse(life.validTo) > Date.now() + 3_600_000, life.validTo);
  const { items } = await cluster.client.list(csrKind, {}, AbortSignal.timeout(10_000));
  assert.deepEqual(
    items
      .filter(({ metadata, spec }) => metadata.name.startsWith('csr-') && spec.signerName.endsWith('client-kubelet'))
      .map(({ spec }) => spec.username),
    [`system:node:${nodeName}`],
  );
  await apply(kubectl, sleeper('later'));
  await waitForPod(kubectl, 'later');
  outputOf(await kubectl('delete pod later --wait'));
});

test('a kubelet that is killed leaves a node that is not ready and a pod that runs, and the next one goes on', async () => {
  const before = await getPod(kubectl, 'guest');
  kubelet?.process.kill('SIGKILL');
  await kubelet?.ended();
  outputOf(await kubectl(`wait node/${nodeName} --for=condition=Ready=Unknown --timeout=30s`));
  const audit = await cluster.kubernode('audit', '--name', name, '--data-dir', dataDir);
  assert.equal(audit.code, 0, `what a killed node has is known to be its own:\n${audit.stdout}${audit.stderr}`);
  kubelet = startLoneKubelet(flags);
  await kubelet.ready();
  outputOf(await kubectl(`wait node/${nodeName} --for=condition=Ready --timeout=30s`));
  const now = await getPod(kubectl, 'guest');
  assert.deepEqual(
    now.status?.containerStatuses?.map(({ containerID }) => containerID),
    before.status?.containerStatuses?.map(({ containerID }) => containerID),
  );
});

test('without pods it leaves nothing on the host when it ends', async () => {
  outputOf(await kubectl('delete pod guest --wait'));
  assert.equal(await kubelet?.stop(), 0);
  assert.equal(existsSync(`/run/kubernode/${name}`), false);
  const audit = await cluster.kubernode('audit', '--name', name, '--data-dir', dataDir);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
});

test('what a killed one leaves, `down` removes with its pods', async () => {
  kubelet = startLoneKubelet(flags);
  await kubelet.ready();
  await apply(kubectl, sleeper('left'));
  await waitForPod(kubectl, 'left');
  kubelet.process.kill('SIGKILL');
  await kubelet.ended();
  outputOf(await cluster.kubernode('down', '--name', name, '--data-dir', dataDir));
  const audit = await cluster.kubernode('audit', '--name', name, '--data-dir', dataDir);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  assert.deepEqual(await runtime.runtime().listPodSandboxes({}, AbortSignal.timeout(10_000)), []);
});

/** What a web server in a pod answers. */
async function throughPortForward(pod: string, path: string): Promise<string> {
  const child = spawn(kubectlPath('1.35'), ['--kubeconfig', cluster.kubeconfig, 'port-forward', `pod/${pod}`, ':8080'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(20_000) })) as [string];
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) });
    return await answer.text();
  } finally {
    child.kill();
  }
}
