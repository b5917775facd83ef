import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { serviceAccountGroups, serviceAccountUserName } from '#apiserver/request/user.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { createSharedInformers } from '#client/shared-informers.ts';
import { runControllers } from '#controllers/controllers.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { kubectlOf, outputOf } from '../support/kubectl.ts';

// The real API server with its controllers, among them the garbage collector, and somebody who ends pods as a kubelet does.

setMaxListeners(0); // as in the control plane

let api: TestApiServer;
let folder: string;
let end: () => Promise<void>;
const kubectl = async (words: string | readonly string[], input = ''): Promise<string> =>
  outputOf(await kubectlOf(api.kubeconfigFile)(words, { input }));
const refusal = async (words: string, input = ''): Promise<string> => {
  const { code, stderr } = await kubectlOf(api.kubeconfigFile)(words, { input });
  assert.notEqual(code, 0, `kubectl ${words} should have failed`);
  return stderr.trim();
};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubernode-writes-'));
  api = await startApiServer();
  const dependencies = { clock: systemClock, logger: silentLogger };
  const clientAs = (name: string, groups: readonly string[] = []) => createClient(api.server.transportAs({ name, groups }));
  const clients = {
    reading: clientAs('system:kube-controller-manager'),
    as: (account: string) => clientAs(serviceAccountUserName('kube-system', account), serviceAccountGroups('kube-system')),
  };
  const stop = new AbortController();
  const admin = clientAs('admin', ['system:masters']);
  const informers = createSharedInformers(clients.reading, dependencies);
  const timings = { garbageCollectorDelayMs: 0 };
  informers.of(podKind).subscribe(({ type, object }) => {
    const { deletionTimestamp, uid, finalizers = [] } = object.metadata;
    if (type === 'deleted' || deletionTimestamp === undefined || finalizers.length > 0) return;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    admin.delete(podKind, object.metadata, options, stop.signal).catch(() => undefined); // gone already
  });
  const running = [informers.run(stop.signal), runControllers(clients, { ...dependencies, informers, rootCaPem: 'THE CA', timings }, stop.signal)];
  end = async () => {
    stop.abort();
    await Promise.all(running);
  };
  await kubectl('wait --for=create serviceaccount/default --timeout=20s');
  await kubectl('create -f -', 'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n');
});

after(async () => {
  await end();
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const podManifest = (name: string, more = '', label = name) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${label}}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 30
  containers: [{name: main, image: 'busybox:1'}]
${more}`;

const setManifest = (name: string) => `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: ${name}}
spec:
  replicas: 0
  selector: {matchLabels: {app: ${name}}}
  template: {metadata: {labels: {app: ${name}}}, spec: {containers: [{name: c, image: i}]}}
`;

/** A replica set with a config map that belongs to it. */
async function owner(name: string): Promise<void> {
  await kubectl('create -f -', setManifest(name));
  const uid = await kubectl(`get rs ${name} -o jsonpath={.metadata.uid}`);
  const reference = `{apiVersion: apps/v1, kind: ReplicaSet, name: ${name}, uid: ${uid}, blockOwnerDeletion: true}`;
  await kubectl('create -f -', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-${name}, ownerReferences: [${reference}]}\n`);
}

describe('delete', () => {
  test('--cascade=background: the owner goes, what belongs to it follows', async () => {
    await owner('back');
    assert.equal(await kubectl('delete rs back --cascade=background'), 'replicaset.apps "back" deleted from default namespace\n');
    await kubectl('wait --for=delete configmap/of-back --timeout=20s');
  });

  test('--cascade=foreground: when kubectl is done, both are gone', async () => {
    await owner('fore');
    await kubectl('delete rs fore --cascade=foreground --timeout=20s');
    assert.match(await refusal('get rs fore'), /replicasets.apps "fore" not found/);
    assert.match(await refusal('get configmap of-fore'), /configmaps "of-fore" not found/);
  });

  test('--cascade=orphan: the owner goes, what belonged to it stays and belongs to nobody', async () => {
    await owner('orph');
    await kubectl('delete rs orph --cascade=orphan --timeout=20s');
    assert.match(await refusal('get rs orph'), /not found/);
    assert.equal(await kubectl('get configmap of-orph -o jsonpath={.metadata.name}{.metadata.ownerReferences}'), 'of-orph');
  });

  test('a period, now, by force, of all with a label, and dry', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await kubectl('create -f -', podManifest(name, '', 'gone'));
    assert.equal(await kubectl('delete pod a --dry-run=server'), 'pod "a" deleted from default namespace (server dry run)\n');
    assert.equal(await kubectl('delete pod a --grace-period=5'), 'pod "a" deleted from default namespace\n');
    assert.equal(await kubectl('delete pod b --now'), 'pod "b" deleted from default namespace\n');
    assert.equal(await kubectl('delete pod c --force --grace-period=0'), 'pod "c" force deleted from default namespace\n');
    assert.match(await kubectl('delete pod -l app=gone'), /^pod "d" deleted from default namespace\npod "e" deleted from default namespace\n$/);
    assert.equal(await kubectl('get pods -l app=gone -o name'), '');
    assert.equal(await kubectl('delete pod a --ignore-not-found'), '');
  });
});

describe('nodes', () => {
  test('cordon, taint, uncordon', async () => {
    assert.equal(await kubectl('cordon n1'), 'node/n1 cordoned\n');
    assert.equal(await kubectl('get node n1 -o jsonpath={.spec.unschedulable}'), 'true');
    assert.equal(await kubectl('uncordon n1'), 'node/n1 uncordoned\n');
    assert.equal(await kubectl('taint node n1 a=b:NoSchedule'), 'node/n1 tainted\n');
    assert.equal(await kubectl('taint node n1 a=c:NoSchedule --overwrite'), 'node/n1 modified\n');
    assert.equal(await kubectl(['get', 'node', 'n1', '-o', 'jsonpath={.spec.taints[?(@.key=="a")].value}']), 'c');
    assert.equal(await kubectl('taint node n1 a-'), 'node/n1 untainted\n');
  });

  test('drain waits for the budget, then goes on', async () => {
    const budget =
      'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n';
    await kubectl('create -f -', budget);
    await kubectl('create -f -', podManifest('web', '', 'web'));
    const untilAllowed = (count: number) => kubectl(`wait pdb/b --for=jsonpath={.status.disruptionsAllowed}=${count} --timeout=20s`);
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await kubectl(['patch', 'pod', 'web', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: ready })]);
    await kubectl('wait pdb/b --for=jsonpath={.status.currentHealthy}=1 --timeout=20s');
    await untilAllowed(0);
    const refused = await refusal('drain n1 --force --timeout=1s');
    assert.match(refused, /Cannot evict pod as it would violate the pod's disruption budget/);
    await kubectl(['patch', 'pdb', 'b', '--type=merge', '-p', '{"spec":{"minAvailable":0}}']);
    await untilAllowed(1);
    // An old one finds out by itself in which version evictions are.
    const drained = outputOf(await kubectlOf(api.kubeconfigFile, '1.20')('drain n1 --force --timeout=20s'));
    assert.match(drained, /pod\/web evicted\nnode\/n1 evicted\n$/);
    await kubectl('uncordon n1');
  });
});

describe('change', () => {
  const map = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, labels: {app: m}}\ndata: ${data}\n`;
  const dataOf = () => kubectl('get configmap m -o jsonpath={.data}');

  test('replace, also by force', async () => {
    await kubectl('create -f -', map('{a: "1"}'));
    assert.equal(await kubectl('replace -f -', map('{b: "2"}')), 'configmap/m replaced\n');
    assert.equal(await dataOf(), '{"b":"2"}');
    assert.match(await kubectl('replace --force -f -', map('{c: "3"}')), /configmap "m" deleted.*\nconfigmap\/m replaced\n$/);
    assert.equal(await dataOf(), '{"c":"3"}');
  });

  test('edit with an editor, and with one that changes nothing', async () => {
    const editor = join(folder, 'editor.sh');
    await writeFile(editor, '#!/bin/sh\nsed -i \'s/c: "3"/c: "4"/\' "$1"\n', { mode: 0o755 });
    const edit = (words: string) => kubectlOf(api.kubeconfigFile)(words, { env: { EDITOR: editor } });
    assert.equal(outputOf(await edit('edit configmap m')), 'configmap/m edited\n');
    assert.equal(await dataOf(), '{"c":"4"}');
    assert.match((await edit('edit configmap m')).stderr, /Edit cancelled, no changes made/);
  });

  test('patches of all types, labels and annotations', async () => {
    const patch = (type: string, text: string) => kubectl(['patch', 'configmap', 'm', `--type=${type}`, '-p', text]);
    assert.equal(await patch('json', '[{"op":"add","path":"/data/j","value":"1"}]'), 'configmap/m patched\n');
    assert.equal(await patch('merge', '{"data":{"c":null,"m":"2"}}'), 'configmap/m patched\n');
    assert.equal(await patch('strategic', '{"data":{"s":"3"}}'), 'configmap/m patched\n');
    assert.equal(await patch('merge', '{"data":{"m":"2"}}'), 'configmap/m patched (no change)\n');
    assert.equal(await dataOf(), '{"j":"1","m":"2","s":"3"}');
    assert.equal(await kubectl('label configmap m tier=x'), 'configmap/m labeled\n');
    assert.match(await refusal('label configmap m tier=y'), /'tier' already has a value \(x\), and --overwrite is false/);
    assert.equal(await kubectl('label configmap m tier-'), 'configmap/m unlabeled\n');
    assert.equal(await kubectl('annotate configmap m note=one'), 'configmap/m annotated\n');
    const failing = ['patch', 'configmap', 'm', '--type=json', '-p', '[{"op":"test","path":"/data/m","value":"9"}]'];
    const { stderr } = await kubectlOf(api.kubeconfigFile)(failing);
    assert.match(stderr, /The request is invalid: the server rejected our request due to an error in our request/);
  });

  test('apply, diff and dry runs', async () => {
    const applied = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: "${value}"}\n`;
    assert.equal(await kubectl('apply --dry-run=server -f -', applied('1')), 'configmap/applied created (server dry run)\n');
    assert.match(await refusal('get configmap applied'), /not found/);
    assert.equal(await kubectl('apply -f -', applied('1')), 'configmap/applied created\n');
    assert.equal(await kubectl('apply -f -', applied('1')), 'configmap/applied unchanged\n');
    const { code, stdout } = await kubectlOf(api.kubeconfigFile)('diff -f -', { input: applied('2') });
    assert.deepEqual([code, /^- {2}a: "1"$/m.test(stdout), /^\+ {2}a: "2"$/m.test(stdout)], [1, true, true]);
    assert.equal(await kubectl('apply --server-side --force-conflicts -f -', applied('3')), 'configmap/applied serverside-applied\n');
    assert.equal(await kubectl('delete -f -', applied('3')), 'configmap "applied" deleted from default namespace\n');
  });

  test('an unknown field is refused, a warning, or nothing', async () => {
    const odd = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd, foo: bar}\ndata: {}\n';
    const strict = await refusal('create -f -', odd);
    assert.match(strict, /ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.foo"/);
    const { stdout, stderr } = await kubectlOf(api.kubeconfigFile)('create --validate=warn -f -', { input: odd });
    assert.deepEqual([stdout, stderr], ['configmap/odd created\n', 'Warning: unknown field "metadata.foo"\n']);
  });
});

describe('pods', () => {
  test('debug adds a container to a pod', async () => {
    await kubectl('create -f -', podManifest('looked-at'));
    await kubectl('debug looked-at --image=busybox:2 --container=look --profile=general --quiet');
    assert.equal(await kubectl('get pod looked-at -o jsonpath={.spec.ephemeralContainers[*].name}'), 'look');
    const twice = await refusal('debug looked-at --image=busybox:3 --container=look --profile=general');
    assert.match(twice, /spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be changed/);
  });

  test('a container is resized through its subresource, not through the pod', async () => {
    const sized = podManifest('sized').replace("image: 'busybox:1'", "image: 'busybox:1', resources: {requests: {cpu: 100m}}");
    await kubectl('create -f -', sized);
    const patch = (words: string) => `patch pod sized ${words}-p {"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"200m"}}}]}}`;
    assert.match(await refusal(patch('')), /pod updates may not change fields other than/);
    assert.equal(await kubectl(patch('--subresource=resize ')), 'pod/sized patched\n');
    assert.equal(await kubectl('get pod sized -o jsonpath={.spec.containers[0].resources.requests.cpu},{.metadata.generation}'), '200m,2');
    const less = 'patch pod sized --subresource=resize -p {"spec":{"containers":[{"name":"main","resources":{"requests":null}}]}}';
    assert.match(await refusal(less), /resource requests cannot be removed/);
  });
});
