import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { certificateSigningRequest as csrKind } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import type { Node } from '#api/types/core-v1.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { hostSide } from '../support/host-side.ts';
import { outputOf } from '../support/kubectl.ts';
import { type LoneKubelet, startLoneKubelet } from '../support/lone-kubelet.ts';
import { apply, getPod, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// A control plane without nodes, somebody else's containerd, and `kubernode kubelet` between them: it joins with a bootstrap token.
const name = `t-${randomBytes(4).toString('hex')}`;
const nodeName = 'lone-1';
const folder = await mkdtemp(join(tmpdir(), 'kubernode-'));
const [cluster, runtime] = await Promise.all([startCluster({ nodes: 0 }), hostSide()]);
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
  await apply(kubectl, sleeper('guest', {}, { command: ['sh', '-c', 'echo hello; trap "exit 0" TERM; sleep 100000 & wait'] }));
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

test('without pods it leaves nothing on the host when it ends', async () => {
  outputOf(await kubectl('delete pod guest --wait'));
  assert.equal(await kubelet?.stop(), 0);
  assert.equal(existsSync(`/run/kubernode/${name}`), false);
  const audit = await cluster.kubernode('audit', '--name', name, '--data-dir', dataDir);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
});
