import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type ProgramResult, runProgram } from '#testing/run-program.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { kubectlHome, kubectlPath, kubectlVersions } from '../support/kubectl.ts';

const manifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {app: x}}
data: {k: v}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: word}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: x}}
spec:
  serviceAccountName: robot
  containers:
  - {name: main, image: 'busybox:1', command: [sleep, 1d], ports: [{containerPort: 80}]}
`;

for (const { name, program } of programs()) {
  describe(name, () => {
    let api: TestApiServer;
    const run = (words: string, input = '', kubeconfig = api.kubeconfigFile): Promise<ProgramResult> =>
      runProgram([program, '--kubeconfig', kubeconfig, ...words.split(' ')], 30_000, { input, env: { HOME: kubectlHome(kubeconfig) } });
    const output = async (words: string, input = ''): Promise<string> => {
      const { code, stdout, stderr } = await run(words, input);
      assert.equal(code, 0, `kubectl ${words}: ${stderr}`);
      return stdout;
    };
    const refusal = async (words: string, input = '', kubeconfig?: string): Promise<string> => {
      const { code, stderr } = await run(words, input, kubeconfig);
      assert.notEqual(code, 0, `kubectl ${words} should have failed`);
      return stderr;
    };
    before(async () => {
      api = await startApiServer();
    });
    after(() => api[Symbol.asyncDispose]());

    test('apply creates, changes what differs and leaves the rest', async () => {
      assert.equal(await output('apply -f -', manifest), 'configmap/a created\nsecret/s created\nserviceaccount/robot created\npod/p created\n');
      const changed = await output('apply -f -', manifest.replace('k: v', 'k: w'));
      assert.match(changed, /^configmap\/a configured\n/);
      assert.match(changed, /pod\/p unchanged\n$/);
      assert.equal(await output('get configmap a -o jsonpath={.data.k}'), 'w');
      assert.equal(await output('get secret s -o jsonpath={.data.password}'), Buffer.from('word').toString('base64'));
    });

    test('get prints the usual columns, and more of them on demand', async () => {
      const columns = async (words: string) => (await output(words)).split('\n')[0]?.split(/\s{2,}/);
      assert.deepEqual(await columns('get pods'), ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']);
      assert.deepEqual(await columns('get pods -A -o wide'), [
        'NAMESPACE',
        'NAME',
        'READY',
        'STATUS',
        'RESTARTS',
        'AGE',
        'IP',
        'NODE',
        'NOMINATED NODE',
        'READINESS GATES',
      ]);
      assert.match(await output('get pods'), /^p\s+0\/1\s+Pending\s+0\s+\d+s\s*$/m);
      assert.deepEqual(
        (await output('get ns -o name')).trim().split('\n'),
        ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => `namespace/${name}`),
      );
      assert.match(await output('get all'), /^(pod\/)?p\s/m);
    });

    test('get -o yaml and describe show a pod as it was defaulted', async () => {
      const yaml = await output('get pod p -o yaml');
      assert.match(yaml, /^ {2}terminationGracePeriodSeconds: 30$/m);
      assert.match(yaml, /mountPath: \/var\/run\/secrets\/kubernetes.io\/serviceaccount/);
      const described = await output('describe pod p');
      for (const line of [/^Status:\s+Pending$/m, /^QoS Class:\s+BestEffort$/m]) assert.match(described, line);
    });

    test('label, annotate, patch and replace change an object', async () => {
      await output('label pod p tier=front');
      await output('annotate pod p note=n');
      assert.equal(await output('get pods -l tier=front -o name'), 'pod/p\n');
      await output('patch configmap a -p {"data":{"z":"1"}}');
      await output('patch configmap a --type=json -p [{"op":"add","path":"/data/q","value":"2"}]');
      assert.deepEqual(JSON.parse(await output('get configmap a -o json')).data, { k: 'w', z: '1', q: '2' });
      const stale = JSON.parse(await output('get configmap a -o json'));
      await output('replace -f -', JSON.stringify({ ...stale, data: { only: 'this' } }));
      assert.match(
        await refusal('replace -f -', JSON.stringify(stale)),
        /the object has been modified; please apply your changes to the latest version and try again/,
      );
    });

    test('watch follows an object until it is deleted', async () => {
      await output('create configmap w --from-literal=a=1');
      const watching = output('get configmap w --watch --output-watch-events --request-timeout=4s');
      await new Promise((resolve) => setTimeout(resolve, 1_500)); // kubectl does not say that it watches
      await output('patch configmap w -p {"data":{"b":"2"}}');
      await output('delete configmap w');
      const events = (await watching).split('\n').map((line) => line.split(/\s+/).slice(0, 3).join(' '));
      assert.deepEqual(events.slice(1, 4), ['ADDED w 1', 'MODIFIED w 2', 'DELETED w 2']);
    });

    test('what is wrong is told as ever', async () => {
      assert.equal(await refusal('get pod none'), 'Error from server (NotFound): pods "none" not found\n');
      assert.match(await refusal('create configmap a'), /configmaps "a" already exists/);
      assert.match(await refusal('create configmap x -n none'), /namespaces "none" not found/);
      assert.match(await refusal('delete namespace kube-system'), /namespaces "kube-system" is forbidden: this namespace may not be deleted/);
      const image = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":{"serviceAccountName":"robot","containers":[{"name":"c"}]}}';
      assert.match(await refusal('create --validate=false -f -', image), /Pod "bad" is invalid: spec\.containers\[0\]\.image: Required value/);
      const jane = await api.kubeconfigFor('jane', []);
      const denied = await refusal('get pods', '', jane);
      assert.match(denied, /pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"/);
    });

    test('a field that a pod does not have is found before it is created', async () => {
      const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":{"containers":[{"name":"c","image":"i","imagge":"x"}]}}';
      assert.match(await refusal('create -f -', pod), /unknown field "(spec\.containers\[0\]\.)?imagge"/);
    });

    test('discovery, explain and the questions about oneself work', async () => {
      assert.match(await output('api-resources'), /^pods\s+po\s+v1\s+true\s+Pod$/m);
      assert.match(await output('explain pod.spec.nodeName'), /nodeName/);
      assert.equal(await output('auth can-i create pods'), 'yes\n');
      const jane = await api.kubeconfigFor('jane', []);
      assert.equal((await run('auth can-i create pods', '', jane)).stdout, 'no\n');
      assert.match(await output('version -o json'), /"gitVersion": "v1\.\d+\.\d+\+kubernode"/);
    });

    test('tokens are made and the user is known', { skip: name.endsWith('1.20') && 'this kubectl has no such commands' }, async () => {
      assert.match(await output('create token robot'), /^eyJ/);
      assert.match(await output('auth whoami'), /^Username\s+admin$/m);
    });

    test('delete removes by file, by selector and at once', async () => {
      await output('run q --image=busybox:1 --overrides={"spec":{"serviceAccountName":"robot"}} --labels=run=q');
      assert.match(await output('delete pods -l run=q'), /^pod "q" (force )?deleted/);
      const deleted = await output('delete -f -', manifest);
      assert.match(deleted, /^configmap "a" deleted/);
      assert.match(deleted, /^pod "p" deleted/m);
      assert.match((await run('get pods')).stderr, /No resources found in default namespace\./);
    });
  });
}

/** Those that the set-up fetched, else the one of this host. */
function programs(): readonly { readonly name: string; readonly program: string }[] {
  const fetched = kubectlVersions.flatMap((version) => {
    try {
      return [{ name: `kubectl ${version}`, program: kubectlPath(version) }];
    } catch {
      return []; // not fetched
    }
  });
  if (fetched.length > 0) return fetched;
  const path =
    process.env['KUBERNODE_KUBECTL'] ??
    (process.env['PATH'] ?? '')
      .split(':')
      .map((dir) => `${dir}/kubectl`)
      .find(existsSync);
  if (path === undefined) throw new Error('there is no kubectl: run ./scripts/setup.sh --tests');
  return [{ name: path, program: path }];
}
