import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { TestCluster } from '#testing/create-cluster.ts';
import { mayAskFor, writeProvider } from '../support/credential-provider.ts';
import { toldOf } from '../support/events.ts';
import { backsOff, podOf } from '../support/image-pods.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, waitForField, waitForPod } from '../support/pods.ts';
import { registryUser, startRegistry } from '../support/registry.ts';
import { startCluster } from '../support/start-cluster.ts';

const backoffMs = 3000;

const locked = await startRegistry({ authentication: 'basic' });
const helper = await writeProvider(locked.host);
const [cluster, tidy, registry, tokens] = await Promise.all([
  startCluster({
    kubelet: { serializeImagePulls: false, registryPullQPS: 0 },
    upFlags: ['--timing', `imageBackoffBaseMs=${backoffMs}`, ...helper.flags],
  }),
  // Any use at all is too much: every image must go as soon as nobody has it.
  startCluster({
    kubelet: { imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0, imageMinimumGCAge: '1s' },
    upFlags: ['--timing', 'imageGcMs=2000'],
  }),
  startRegistry(),
  startRegistry({ authentication: 'token' }),
]);
after(() => Promise.all([registry, locked, tokens, helper].map((one) => one.stop())));
const { kubectl } = cluster;
before(async () => {
  const { name: username, password } = registryUser;
  // Before the first pull: a change counts five minutes later.
  await writeFile(`${cluster.paths.kubeletRoot}/config.json`, JSON.stringify({ auths: { [`${locked.host}/node`]: { username, password } } }));
});

const ifNotPresent = { container: { imagePullPolicy: 'IfNotPresent' } };

function pullSecret(name: string, host: string, entry: object): object {
  const stringData = { '.dockerconfigjson': JSON.stringify({ auths: { [host]: entry } }) };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'kubernetes.io/dockerconfigjson', stringData };
}

const told = (where: TestCluster, name: string, reason: string, words: RegExp) => toldOf(where, name, reason, (message) => words.test(message));

const backOff = (image: string, why: string) => `Back-off pulling image "${image}": ErrImagePull: ${why}`;
/** As containerd begins when it does not come as far as the layers. */
const resolving = (image: string) => `failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;

// First: a node that is told of every round would soon be told of no more.
test('images that nobody has go when the disk fills; those in use, and those that were loaded, stay', async () => {
  const [used, unused] = [await registry.push('used:1'), await registry.push('unused:1')];
  await apply(tidy.kubectl, podOf('used', used.reference), podOf('unused', unused.reference));
  await waitForPod(tidy.kubectl, 'used');
  await waitForPod(tidy.kubectl, 'unused');
  outputOf(await tidy.kubectl('delete pod unused --timeout=20s'));
  const node = outputOf(await tidy.kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));
  const size = '[\\d.]+ [KMGT]iB';
  const freed = new RegExp(
    `^Insufficient free disk space on the node's image filesystem \\(\\d+% of ${size} used\\)\\. Failed to free sufficient space by deleting unused images ` +
      '\\(freed [1-9]\\d{5,} bytes\\)\\. Investigate disk usage, as it could be used by active images, logs, volumes, or other data\\.$',
  );
  await told(tidy, node, 'FreeDiskSpaceFailed', freed);
  await told(tidy, node, 'ImageGCFailed', /^Insufficient free disk space on the node's image filesystem/);
  const { stdout } = await tidy.kubernode('image', 'list');
  assert.ok(stdout.includes(used.reference) && stdout.includes('busybox:latest') && stdout.includes('kubernode/pause'), stdout);
  assert.ok(!stdout.includes(unused.reference), stdout);
  const metrics = outputOf(await tidy.kubectl(`get --raw /api/v1/nodes/${node}/proxy/metrics`));
  assert.match(metrics, /^kubelet_image_garbage_collected_total\{reason="space"\} 1$/m);
  assert.match(
    metrics,
    /^kubelet_image_manager_ensure_image_requests_total\{pull_policy="ifnotpresent",present_locally="false",pull_required="true"\} 2$/m,
  );
  assert.match(metrics, /^kubelet_image_pull_duration_seconds_count\{image_size_in_bytes="0-10MB"\} 2$/m);
});

test('subtle 53: an image without a tag is pulled as latest, and each time', async () => {
  const { reference } = await registry.push('plain:latest');
  const image = reference.replace(/:latest$/, '');
  await apply(kubectl, podOf('plain', image));
  await waitForPod(kubectl, 'plain');
  const pod = await getPod(kubectl, 'plain');
  assert.equal(pod.spec?.containers[0]?.imagePullPolicy, 'Always');
  assert.equal(pod.status?.containerStatuses?.[0]?.image, reference);
  await told(cluster, 'plain', 'Pulling', new RegExp(`^Pulling image "${image}"$`));
  const time = '(\\d+ms|[\\d.]+s)';
  await told(
    cluster,
    'plain',
    'Pulled',
    new RegExp(`^Successfully pulled image "${image}" in ${time} \\(${time} including waiting\\)\\. Image size: \\d{6,} bytes\\.$`),
  );
});

test('subtle 54: an image that is there does not help a pod that wants it pulled', async () => {
  const { reference } = await registry.push('kept:1');
  await apply(kubectl, podOf('kept', reference, ifNotPresent));
  await waitForPod(kubectl, 'kept');
  registry.fault = (line) => (line.includes('/kept/') ? { kind: 'status', status: 500 } : undefined);
  await apply(kubectl, podOf('wants', reference, { container: { imagePullPolicy: 'Always' } }), podOf('takes', reference, ifNotPresent));
  const message = await backsOff(kubectl, 'wants');
  const broken = `${resolving(reference)}pulling from host ${registry.host} failed with status code [manifests 1]: 500 Internal Server Error`;
  assert.equal(message, backOff(reference, broken));
  await waitForPod(kubectl, 'takes');
  await told(cluster, 'takes', 'Pulled', new RegExp(`^Container image "${reference}" already present on machine and can be accessed by the pod$`));
  registry.fault = () => undefined;
  await waitForPod(kubectl, 'wants');
});

test('a private image is pulled with the secret of the pod, or of its ServiceAccount', async () => {
  const { reference } = await locked.push('team/app:1');
  const { name: username, password } = registryUser;
  const wrong = { auth: Buffer.from(`${username}:wrong`).toString('base64') };
  await apply(kubectl, pullSecret('wrong', locked.host, wrong), pullSecret('right', `https://${locked.host}/v2/`, { username, password }), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'puller' },
    imagePullSecrets: [{ name: 'right' }],
  });
  await apply(
    kubectl,
    podOf('refused', reference, { ...ifNotPresent, spec: { imagePullSecrets: [{ name: 'wrong' }] } }),
    podOf('stranger', reference, { ...ifNotPresent, spec: { imagePullSecrets: [{ name: 'absent' }] } }),
  );
  const unauthorized = `${resolving(reference)}pulling from host ${locked.host} failed with status code [manifests 1]: 401 Unauthorized`;
  for (const name of ['refused', 'stranger']) assert.equal(await backsOff(kubectl, name), backOff(reference, unauthorized));
  await told(
    cluster,
    'stranger',
    'FailedToRetrieveImagePullSecret',
    /^Unable to retrieve some image pull secrets \(absent\); attempting to pull the image may not succeed\.$/,
  );
  // One after another: the second secret is tried when the first is refused.
  await apply(kubectl, podOf('allowed', reference, { ...ifNotPresent, spec: { imagePullSecrets: [{ name: 'wrong' }, { name: 'right' }] } }));
  await waitForPod(kubectl, 'allowed');
  await apply(kubectl, podOf('served', reference, { ...ifNotPresent, spec: { serviceAccountName: 'puller' } }));
  await waitForPod(kubectl, 'served');
  await told(cluster, 'served', 'Pulled', /already present on machine and can be accessed by the pod$/);
  // The image is there now, but not for those who could not have pulled it.
  await apply(kubectl, podOf('thief', reference, ifNotPresent), podOf('never', reference, { container: { imagePullPolicy: 'Never' } }));
  await waitForField(kubectl, 'never', '{.status.containerStatuses[0].state.waiting.reason}', 'ErrImageNeverPull');
  assert.equal(await backsOff(kubectl, 'thief'), backOff(reference, unauthorized));
});

test('the node’s own credentials are those of its file', async () => {
  const { reference } = await locked.push('node/app:1');
  await apply(kubectl, podOf('of-node', reference, ifNotPresent));
  await waitForPod(kubectl, 'of-node');
});

test('a credential provider is asked once for a registry, and what it opened is open to all of the node', async () => {
  const images = [await locked.push('helped/one:1'), await locked.push('helped/two:1')];
  const [one = '', two = ''] = images.map(({ reference }) => reference);
  await apply(kubectl, podOf('helped-one', one, ifNotPresent));
  await waitForPod(kubectl, 'helped-one');
  await apply(kubectl, podOf('helped-two', two, ifNotPresent), podOf('helped-never', one, { container: { imagePullPolicy: 'Never' } }));
  await waitForPod(kubectl, 'helped-two');
  await waitForPod(kubectl, 'helped-never');
  assert.deepEqual(await helper.questions(), [
    { kind: 'CredentialProviderRequest', apiVersion: 'credentialprovider.kubelet.k8s.io/v1', image: `${locked.host}/helped/one` },
  ]);
  const node = outputOf(await kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));
  const metrics = outputOf(await kubectl(`get --raw /api/v1/nodes/${node}/proxy/metrics`));
  assert.match(metrics, /^kubelet_credential_provider_plugin_duration_count\{plugin_name="for-node"\} 1$/m);
});

test('a credential provider for ServiceAccounts gets a token of the pod, and only such pods may use the image', async () => {
  const { reference } = await locked.push('accounts/app:1');
  const account = (name: string, annotations: object = {}) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, annotations } });
  await apply(kubectl, account('trusted', { 'tests/role': 'reader' }), account('other', { 'tests/role': 'reader' }), account('plain'));
  await apply(kubectl, ...mayAskFor('registry.tests'));
  const by = (serviceAccountName: string) => ({ ...ifNotPresent, spec: { serviceAccountName } });
  await apply(kubectl, podOf('trusted', reference, by('trusted')));
  await waitForPod(kubectl, 'trusted');
  const [question] = await helper.questions('for-accounts');
  const { image, serviceAccountToken, serviceAccountAnnotations } = question ?? {};
  assert.deepEqual([image, serviceAccountAnnotations], [`${locked.host}/accounts/app`, { 'tests/role': 'reader' }]);
  const claims = JSON.parse(Buffer.from(String(serviceAccountToken).split('.')[1] ?? '', 'base64url').toString('utf8'));
  const { pod, serviceaccount } = claims['kubernetes.io'];
  assert.deepEqual([claims.aud, pod.name, serviceaccount.name], [['registry.tests'], 'trusted', 'trusted']);
  await apply(kubectl, podOf('trusted-too', reference, by('trusted')), podOf('untrusted', reference, by('plain')));
  await waitForPod(kubectl, 'trusted-too');
  await told(cluster, 'trusted-too', 'Pulled', /already present on machine and can be accessed by the pod$/);
  const unauthorized = `${resolving(reference)}pulling from host ${locked.host} failed with status code [manifests 1]: 401 Unauthorized`;
  assert.equal(await backsOff(kubectl, 'untrusted'), backOff(reference, unauthorized));
  // The image is there, and this account has not been seen with it: it is pulled once more, by a token of its own.
  await apply(kubectl, podOf('other', reference, by('other')));
  await waitForPod(kubectl, 'other');
  await told(cluster, 'other', 'Pulled', /^Successfully pulled image /);
  assert.equal((await helper.questions('for-accounts')).length, 2);
});

test('a configuration of credential providers that is wrong is refused before anything starts', async () => {
  const refused = await cluster.kubernode('up', ...helper.flags.slice(0, -1), '/nowhere');
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /plugin binary directory \/nowhere did not exist/);
});

test('a token server gives its token for name and password, and for an identity token', async () => {
  const { name: username, password, identityToken: identitytoken } = registryUser;
  const [one, two] = [await tokens.push('one:1'), await tokens.push('two:1')];
  await apply(
    kubectl,
    pullSecret('by-name', tokens.host, { username, password }),
    pullSecret('by-token', `*.0.0.1:${tokens.host.split(':')[1]}`, { auth: 'eDo=', identitytoken }),
  );
  await apply(
    kubectl,
    podOf('by-name', one.reference, { spec: { imagePullSecrets: [{ name: 'by-name' }] } }),
    podOf('by-token', two.reference, { spec: { imagePullSecrets: [{ name: 'by-token' }] } }),
  );
  await waitForPod(kubectl, 'by-name');
  await waitForPod(kubectl, 'by-token');
});

test('a missing image, a name that none can have, and a registry that asks for patience are told apart', async () => {
  const { reference } = await registry.push('busy:1');
  registry.fault = (line) => (line.includes('/busy/manifests/') ? { kind: 'status', status: 429 } : undefined);
  await apply(kubectl, podOf('missing', `${registry.host}/missing:1`), podOf('unnamed', `${registry.host}/Missing`), podOf('busy', reference));
  await waitForField(kubectl, 'unnamed', '{.status.containerStatuses[0].state.waiting.reason}', 'InvalidImageName');
  const said = (await getPod(kubectl, 'unnamed')).status?.containerStatuses?.[0]?.state?.waiting?.message;
  const name = `${registry.host}/Missing`;
  assert.equal(
    said,
    `Failed to apply default image tag "${name}": couldn't parse image name "${name}": invalid reference format: repository name (Missing) must be lowercase`,
  );
  await told(cluster, 'unnamed', 'InspectFailed', /^Failed to apply default image tag /);
  await told(cluster, 'unnamed', 'Failed', /^Error: InvalidImageName$/);
  const missing = `${registry.host}/missing:1`;
  assert.equal(await backsOff(kubectl, 'missing'), backOff(missing, `rpc error: code = NotFound desc = ${resolving(missing)}${missing}: not found`));
  const patience = `${resolving(reference)}pulling from host ${registry.host} failed with status code [manifests 1]: 429 Too Many Requests`;
  assert.equal(await backsOff(kubectl, 'busy'), backOff(reference, patience));
  for (const text of ['ErrImagePull', 'ImagePullBackOff']) await told(cluster, 'missing', 'Failed', new RegExp(`^Error: ${text}$`));
  await told(cluster, 'missing', 'BackOff', /^Back-off pulling image /);
  registry.fault = () => undefined;
  await waitForPod(kubectl, 'busy');
});
