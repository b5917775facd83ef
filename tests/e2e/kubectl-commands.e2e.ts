import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { certificateRequest } from '../support/every-kind.ts';
import { kubectlOf, kubectlVersions, outputOf } from '../support/kubectl.ts';
import { apply, sleeper } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster({ nodes: 0 });
const folder = await mkdtemp(join(tmpdir(), 'kubectl-commands-'));
after(() => rm(folder, { recursive: true, force: true }));

const editor = join(folder, 'editor');
await writeFile(editor, '#!/bin/sh\nsed -i s/blue/green/ "$1"\n');
await chmod(editor, 0o755);

const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
const lines = (text: string) => text.trim().split('\n');

for (const version of kubectlVersions) {
  const admin = cluster.kubectlOf(version);
  const namespace = `v${version.replace('.', '-')}`;
  const kubectl: typeof admin = (words, options) => admin(['-n', namespace, ...(typeof words === 'string' ? words.split(' ') : words)], options);
  const said = async (words: string | readonly string[], options?: Parameters<typeof kubectl>[1]) => outputOf(await kubectl(words, options));
  const minor = Number(version.split('.')[1]);

  describe(`kubectl ${version}`, () => {
    before(async () => assert.equal(await said(`create namespace ${namespace}`), `namespace/${namespace} created\n`));

    test('create, edit, replace and patch in each form', async () => {
      assert.equal(await said('create configmap paint --from-literal=color=blue'), 'configmap/paint created\n');
      assert.equal(await said('edit configmap paint', { env: { KUBE_EDITOR: editor } }), 'configmap/paint edited\n');
      assert.equal(await said('get configmap paint -o jsonpath={.data}'), '{"color":"green"}');
      const replacement = JSON.stringify(configMap('paint', { color: 'red' }));
      assert.equal(await said('replace -f -', { input: replacement }), 'configmap/paint replaced\n');
      const patches: readonly (readonly [string, string])[] = [
        ['json', '[{"op":"test","path":"/data/color","value":"red"},{"op":"add","path":"/data/a","value":"1"}]'],
        ['merge', '{"data":{"b":"2"}}'],
        ['strategic', '{"data":{"c":"3","color":null}}'],
      ];
      for (const [type, patch] of patches)
        assert.equal(await said(['patch', 'configmap', 'paint', '--type', type, '-p', patch]), 'configmap/paint patched\n');
      assert.equal(await said('get configmap paint -o jsonpath={.data}'), '{"a":"1","b":"2","c":"3"}');
      const refused = await kubectl(['patch', 'configmap', 'paint', '--type', 'json', '-p', '[{"op":"test","path":"/data/a","value":"9"}]']);
      assert.match(refused.stderr, minor > 20 ? /the server rejected our request due to an error in our request/ : /The request is invalid/);
    });

    test('apply keeps what others set, diff tells, dry run stores nothing', async () => {
      const input = JSON.stringify(configMap('shared', { mine: '1', old: '1' }));
      assert.equal(await said('apply -f -', { input }), 'configmap/shared created\n');
      await said(['patch', 'configmap', 'shared', '-p', '{"data":{"theirs":"1"}}']);
      const next = JSON.stringify(configMap('shared', { mine: '2' }));
      assert.equal(await said('apply --dry-run=server -f -', { input: next }), 'configmap/shared configured (server dry run)\n');
      const difference = await kubectl('diff -f -', { input: next });
      assert.equal(difference.code, 1, difference.stderr);
      assert.match(difference.stdout, /^- {2}mine: "1"$[\s\S]*^- {2}old: "1"$/m);
      assert.equal(await said('apply -f -', { input: next }), 'configmap/shared configured\n');
      assert.equal(await said('get configmap shared -o jsonpath={.data}'), '{"mine":"2","theirs":"1"}');
    });

    test('two managers apply on the server', async () => {
      const as = (manager: string, value: string, ...more: readonly string[]) =>
        kubectl(['apply', '--server-side', `--field-manager=${manager}`, ...more, '-f', '-'], {
          input: JSON.stringify(configMap('owned', { key: value })),
        });
      assert.equal(outputOf(await as('one', 'a')), 'configmap/owned serverside-applied\n');
      const refused = await as('two', 'b');
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /Apply failed with 1 conflict: conflict with "one": \.data\.key/);
      assert.equal(outputOf(await as('two', 'b', '--force-conflicts')), 'configmap/owned serverside-applied\n');
      const shown = await said(['get', 'configmap', 'owned', '-o', 'json', ...(minor > 20 ? ['--show-managed-fields'] : [])]);
      const { metadata } = JSON.parse(shown) as { metadata: { managedFields: { manager: string; operation: string }[] } };
      assert.deepEqual(
        metadata.managedFields.map(({ manager, operation }) => `${manager} ${operation}`),
        ['two Apply'],
      );
    });

    test('label and annotate set, refuse to overwrite, and remove', async () => {
      await said('create configmap marked');
      assert.equal(await said('label configmap marked a=1'), 'configmap/marked labeled\n');
      assert.match((await kubectl('label configmap marked a=2')).stderr, /'a' already has a value \(1\), and --overwrite is false/);
      assert.equal(await said('get configmap -l a=1 -o name'), 'configmap/marked\n');
      await said('label configmap marked a-');
      await said('annotate configmap marked note=long');
      assert.equal(await said('get configmap marked -o jsonpath={.metadata.annotations}{.metadata.labels}'), '{"note":"long"}');
      assert.match((await kubectl('label configmap marked not/a/key=1')).stderr, /a (valid label key|qualified name) must consist of|invalid/);
    });

    test('wait sees a condition come and an object go', async () => {
      await apply(kubectl, sleeper('waited', { nodeSelector: { 'no.such/node': 'true' } }));
      const waiting = kubectl('wait pod/waited --for=condition=PodScheduled=false --timeout=30s');
      assert.equal(outputOf(await waiting), 'pod/waited condition met\n');
      const gone = kubectl('wait pod/waited --for=delete --timeout=30s');
      assert.match(await said('delete pod waited'), /pod "waited" deleted/);
      const { code, stdout, stderr } = await gone;
      // What has gone before it is looked for is an error for the oldest, and nothing to say for the others.
      if (version === '1.20' && code !== 0) assert.equal(stderr, 'error: no matching resources found\n');
      else assert.match(`${code} ${stdout}`, /^0 (pod\/waited condition met\n)?$/);
      const never = await kubectl('wait pod/never --for=condition=Ready --timeout=1s');
      assert.match(never.stderr, /pods "never" not found/);
    });

    test('explain tells the type of a nested field', async () => {
      const explained = await said('explain pod.spec.containers');
      assert.match(explained, /KIND: +Pod\n/);
      assert.match(explained, /imagePullPolicy\s+<string>/);
      assert.match(explained, /(RESOURCE|FIELD): +containers +<\[\](Object|Container)>/);
      assert.match(await said('explain deployment.spec.strategy.rollingUpdate.maxSurge'), /maxSurge +<(string|IntOrString)>/);
    });

    test('auth can-i answers and lists', async () => {
      assert.equal(await said('auth can-i create deployments.apps'), 'yes\n');
      const denied = await kubectl('auth can-i list secrets --as=system:serviceaccount:default:default');
      assert.deepEqual([denied.code, lines(denied.stdout)[0]], [1, 'no']);
      const list = await said('auth can-i --list --as=system:serviceaccount:default:default --as-group=system:authenticated');
      assert.match(list, /^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
      assert.match(await said('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
    });

    test('cordon, taint and drain a node', async () => {
      const node = `node-${namespace}`;
      await apply(admin, { apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
      await apply(kubectl, sleeper('moved', { nodeName: node }));
      assert.equal(await said(`taint node ${node} here=yes:NoSchedule`), `node/${node} tainted\n`);
      assert.equal(await said(`cordon ${node}`), `node/${node} cordoned\n`);
      assert.match(await said(`get node ${node}`), /SchedulingDisabled/);
      const drained = await said(`drain ${node} --force --grace-period=0 --timeout=30s --pod-selector=`);
      assert.match(drained, new RegExp(`pod/moved evicted\nnode/${node} ${minor > 20 ? 'drained' : 'evicted'}\n`));
      assert.equal(await said(`uncordon ${node}`), `node/${node} uncordoned\n`);
      assert.equal(await said('get pods -o name'), '');
      await said(`delete node ${node}`);
    });

    test('a certificate that was approved logs its user in', async () => {
      const [user, key] = [`walker-${namespace}`, join(folder, `${namespace}.key`)];
      const request = Buffer.from(await certificateRequest(user, 'walkers', key)).toString('base64');
      const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
      await apply(admin, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: user }, spec });
      assert.match(await said(`get csr ${user}`), /Pending/);
      assert.match(await said(`certificate approve ${user}`), new RegExp(`${user} approved`));
      await said(`create clusterrolebinding ${user} --clusterrole=view --user=${user}`);
      outputOf(await cluster.kubectl(['wait', `csr/${user}`, '--for=jsonpath={.status.certificate}', '--timeout=30s']));
      const signed = await said(`get csr ${user} -o jsonpath={.status.certificate}`);
      const certificate = join(folder, `${namespace}.crt`);
      await writeFile(certificate, Buffer.from(signed, 'base64'));
      const config = join(folder, `${namespace}.kubeconfig`);
      await writeFile(config, await readFile(cluster.kubeconfig));
      const walker = kubectlOf(config, version);
      // Debian's kubectl 1.20 crashes when it writes a configuration.
      outputOf(await kubectlOf(config)(['config', 'set-credentials', 'walker', `--client-key=${key}`, `--client-certificate=${certificate}`]));
      assert.match(outputOf(await walker('get configmaps -A --user=walker -o name')), /kube-root-ca\.crt/);
      const refused = await walker('create configmap no --user=walker');
      assert.match(
        refused.stderr,
        new RegExp(`configmaps is forbidden: User "${user}" cannot create resource "configmaps" in API group "" in the namespace`),
      );
    });

    test('discovery: api-resources and api-versions', async () => {
      const resources = await said('api-resources --no-headers');
      assert.match(resources, /^pods +po +v1 +true +Pod$/m);
      assert.match(resources, /^deployments +deploy +apps\/v1 +true +Deployment$/m);
      assert.match(await said('api-versions'), /^rbac\.authorization\.k8s\.io\/v1$/m);
      assert.match(await said('cluster-info'), /is running at/);
      assert.equal(await said('get all -o name'), '');
    });
  });
}
