import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { type KubectlVersion, kubectlHome, kubectlOf, kubectlPath, outputOf } from '../support/kubectl.ts';

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { serviceAccountName: 'robot', containers: [{ name: 'main', image: 'busybox:1', ports: [{ containerPort: 80 }] }] },
});

for (const version of ['1.20', '1.28', '1.35'] as const) {
  describe(`kubectl ${version} reads`, () => {
    let api: TestApiServer;
    const run = async (words: string | readonly string[], input = ''): Promise<string> =>
      outputOf(await kubectlOf(api.kubeconfigFile, version)(words, { input }));
    const lines = async (words: string): Promise<readonly string[]> => (await run(words)).trimEnd().split('\n');

    before(async () => {
      api = await startApiServer();
      const items = ['b', 'a', 'e', 'd', 'c'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { n: name } } }));
      const robot = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
      await run('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...items, robot, pod('p'), pod('q')] }));
    });
    after(() => api[Symbol.asyncDispose]());

    test('pages of a list are put together, and sorted as asked', async () => {
      const names = async (words: string) => (await lines(`get configmaps --no-headers ${words}`)).map((line) => line.split(/\s+/)[0]);
      assert.deepEqual(await names('--chunk-size=2'), ['a', 'b', 'c', 'd', 'e']);
      assert.deepEqual(await names('--sort-by=.metadata.creationTimestamp --chunk-size=1').then((all) => [...all].sort()), ['a', 'b', 'c', 'd', 'e']);
      assert.deepEqual(await names('--sort-by={.metadata.name}'), ['a', 'b', 'c', 'd', 'e']);
    });

    test('selectors of labels and of fields narrow a list', async () => {
      assert.deepEqual(await lines('get configmaps -o name -l n!=a,n!=b'), ['configmap/c', 'configmap/d', 'configmap/e']);
      assert.deepEqual(await lines('get configmaps -o name -A --field-selector metadata.name=d'), ['configmap/d']);
      assert.deepEqual(await lines('get pods -o name --field-selector spec.nodeName=,status.phase=Pending'), ['pod/p', 'pod/q']);
      const refused = await kubectlOf(api.kubeconfigFile, version)('get pods --field-selector spec.nope=1');
      assert.match(refused.stderr, /field label not supported: spec\.nope/);
    });

    test('columns: as usual, wide, of labels, and of the whole object', async () => {
      assert.match((await lines('get pods'))[0] ?? '', /^NAME +READY +STATUS +RESTARTS +AGE$/);
      assert.match((await lines('get pods -o wide'))[0] ?? '', /AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/);
      assert.match((await lines('get pods p -L app --no-headers'))[0] ?? '', /^p .* p$/);
      assert.equal(await run('get pod p -o jsonpath={.kind}/{.metadata.name}/{.spec.containers[0].image}'), 'Pod/p/busybox:1');
      assert.deepEqual(await lines('get pods -o custom-columns=N:.metadata.name,P:.status.phase --no-headers'), ['p     Pending', 'q     Pending']);
    });

    test('a watch shows each change, in lines and in events', async () => {
      using watching = watchLines(api, version, 'get configmaps -w -l n=a --no-headers --output-watch-events');
      await watching.line((line) => /^ADDED +a +0/.test(line));
      await run('patch configmap a -p {"data":{"k":"v"}}');
      await watching.line((line) => /^MODIFIED +a +1/.test(line));
      await run('label configmap a n=z --overwrite');
      await watching.line((line) => /^DELETED +a +1/.test(line));
      await run('label configmap a n=a --overwrite');
      await watching.line((line) => /^ADDED +a +1/.test(line));
    });

    test('wait ends with the condition, and with the deletion', async () => {
      const ready = run('wait --for=condition=Ready pod/p --timeout=20s');
      const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      await api.server.transportAs({ name: 'admin', groups: ['system:masters'] }).send(
        {
          method: 'PATCH',
          path: '/api/v1/namespaces/default/pods/p/status',
          query: new URLSearchParams(),
          headers: { 'content-type': 'application/strategic-merge-patch+json' },
          body: JSON.stringify(status),
        },
        new AbortController().signal,
      );
      assert.equal(await ready, 'pod/p condition met\n');
      const gone = kubectlOf(api.kubeconfigFile, version)('wait --for=delete pod/q --timeout=20s');
      await run('delete pod q --wait=false --grace-period=0 --force');
      const { code, stdout, stderr } = await gone;
      // What has gone before it is looked for is an error for the oldest, and nothing to say for the others.
      if (version === '1.20' && code !== 0) assert.equal(stderr, 'error: no matching resources found\n');
      else assert.match(`${code} ${stdout}`, /^0 (pod\/q condition met\n)?$/);
    });

    test('what there is, is listed', async () => {
      assert.match(await run('api-resources'), /^pods +po +v1 +true +Pod$/m);
      const wide = await run('api-resources -o wide --verbs=list --namespaced=true');
      assert.match(wide, /^configmaps .*create.*delete.*deletecollection.*get.*list.*patch.*update.*watch/m);
      assert.doesNotMatch(wide, /^nodes /m);
      const versions = await lines('api-versions');
      assert.ok(versions.includes('v1') && versions.includes('coordination.k8s.io/v1'));
      assert.deepEqual(JSON.parse(await run('get --raw /api')).versions, ['v1']);
      assert.equal(await run('get --raw /healthz?timeout=3s'), 'ok');
      assert.match(await run(['get', '--raw', '/readyz?verbose']), /^readyz check passed$/m);
      assert.equal(JSON.parse(await run('get --raw /api/v1/namespaces/default/configmaps?limit=1')).metadata.remainingItemCount, 4);
    });

    test('apply learns from OpenAPI how lists are merged, and which fields there are', async () => {
      const deployment = (...containers: readonly object[]) => {
        const template = { metadata: { labels: { a: 'b' } }, spec: { containers } };
        const spec = { selector: { matchLabels: { a: 'b' } }, template };
        return JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec });
      };
      await run('apply -f -', deployment({ name: 'x', image: 'x:1', env: [{ name: 'A', value: '1' }] }, { name: 'y', image: 'y:1' }));
      await run('patch deployment d -p {"spec":{"template":{"spec":{"containers":[{"name":"z","image":"z:1"}]}}}}');
      await run('apply -f -', deployment({ name: 'x', image: 'x:2', env: [{ name: 'B', value: '2' }] }));
      const path = '{range .spec.template.spec.containers[*]}{.name} {.image} {.env[*].name};{end}';
      const left = (await run(['get', 'deployment', 'd', '-o', `jsonpath=${path}`])).split(';').sort();
      assert.deepEqual(left, ['', 'x x:2 B', 'z z:1 ']); // what is another's stays
      const refused = await kubectlOf(api.kubeconfigFile, version)('apply -f -', { input: deployment({ name: 'x', imagge: 'x:3' }) });
      assert.match(refused.stderr, /unknown field \\?"(spec\.template\.spec\.containers\[\d\]\.)?imagge\\?"/);
    });

    test('explain has upstream words, for the kind and down its fields', async () => {
      const flat = (text: string) => text.replaceAll(/\s+/g, ' ');
      assert.match(flat(await run('explain pod')), /Pod is a collection of containers that can run on a host\./);
      const containers = flat(await run('explain pod.spec.containers'));
      assert.match(containers, /List of containers belonging to the pod\./);
      assert.match(containers, /Entrypoint array\. Not executed within a shell\./);
      assert.match(flat(await run('explain pod.spec.containers.livenessProbe')), /Periodic probe of container liveness\./);
      assert.match(await run('explain configmap --recursive'), /binaryData\s+<map\[string\]string>/);
      assert.match(flat(await run('explain subjectaccessreview.spec')), /Spec holds information about the request being evaluated/);
    });
  });
}

interface WatchedLines extends Disposable {
  /** The next line that is accepted; lines in between are dropped. */
  line(accept: (line: string) => boolean): Promise<string>;
}

function watchLines(api: TestApiServer, version: KubectlVersion, words: string): WatchedLines {
  const child = spawn(kubectlPath(version), ['--kubeconfig', api.kubeconfigFile, ...words.split(' ')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: kubectlHome(api.kubeconfigFile) },
  });
  const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async line(accept) {
      for (;;) {
        const next = await output.next();
        if (next.done === true) throw new Error(`kubectl ${words} ended`);
        if (accept(next.value)) return next.value;
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
