import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { serviceAccountGroups, serviceAccountUserName } from '#apiserver/request/user.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { runControllers } from '#controllers/controllers.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { type Kubectl, kubectlOf, kubectlVersions, outputOf } from '../support/kubectl.ts';

let api: TestApiServer;
let folder: string;
let admin: Kubectl;
const stop = new AbortController();
let controllers: Promise<void>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubernode-rbac-'));
  api = await startApiServer();
  admin = kubectlOf(api.kubeconfigFile);
  const clientAs = (name: string, groups: readonly string[] = []) => createClient(api.server.transportAs({ name, groups }));
  const clients = {
    reading: clientAs('system:kube-controller-manager'),
    as: (account: string) => clientAs(serviceAccountUserName('kube-system', account), serviceAccountGroups('kube-system')),
  };
  controllers = runControllers(clients, { clock: systemClock, logger: silentLogger, rootCaPem: 'THE CA' }, stop.signal);
  for (const namespace of ['shop', 'other']) await done(`create namespace ${namespace}`);
});

after(async () => {
  stop.abort();
  await controllers;
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const done = async (words: string | readonly string[], options: Parameters<Kubectl>[1] = {}) => outputOf(await admin(words, options));
const userOf = async (name: string, groups: readonly string[] = []) => kubectlOf(await api.kubeconfigFor(name, groups));

/** kubectl with a token and nothing else. */
async function bearerOf(token: string): Promise<Kubectl> {
  const file = join(folder, `${token.slice(-8)}.kubeconfig`);
  const cluster = { server: `https://127.0.0.1:${api.port}`, 'certificate-authority-data': Buffer.from(api.caPem).toString('base64') };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return kubectlOf(file);
}

/** Asks until the answer is yes: an aggregated role follows its parts a moment later. */
async function becomesAllowed(user: Kubectl, words: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { stdout } = await user(`auth can-i ${words}`);
    if (stdout.trim() === 'yes') return;
    await systemClock.sleep(50, signal);
  }
}

describe('kubectl', () => {
  test('makes roles and bindings, shows and describes them', async () => {
    assert.equal(
      await done('create role reader --verb=get,list --resource=pods,pods/log -n shop'),
      'role.rbac.authorization.k8s.io/reader created\n',
    );
    await done('create clusterrole paths --verb=get --non-resource-url=/metrics');
    await done('create rolebinding janes --role=reader --user=jane --serviceaccount=shop:robot -n shop');
    await done('create clusterrolebinding janes --clusterrole=paths --group=staff');
    const rows = async (words: string) =>
      (await done(words))
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/\s{2,}/));
    assert.deepEqual(
      (await rows('get rolebindings -n shop -o wide')).map((row) => row.toSpliced(2, 1)),
      [
        ['NAME', 'ROLE', 'USERS', 'GROUPS', 'SERVICEACCOUNTS'],
        ['janes', 'Role/reader', 'jane', 'shop/robot'],
      ],
    );
    assert.match(await done('get role reader -n shop'), /^NAME\s+CREATED AT\nreader\s+\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
    const described = await done('describe clusterrole system:kube-dns');
    assert.match(
      described,
      /^Name:\s+system:kube-dns\nLabels:\s+kubernetes\.io\/bootstrapping=rbac-defaults\nAnnotations:\s+rbac\.authorization\.kubernetes\.io\/autoupdate: true\n/,
    );
    assert.match(described, /\n {2}endpoints\s+\[\]\s+\[\]\s+\[list watch\]\n {2}services\s+\[\]\s+\[\]\s+\[list watch\]\n/);
    assert.match(
      await done('describe rolebinding janes -n shop'),
      /Kind:\s+Role\n\s+Name:\s+reader\n(?:.|\n)*User\s+jane\s*\n\s+ServiceAccount\s+robot\s+shop/,
    );
  });

  test('a user with a certificate may do what its bindings say, and is told what it may not', async () => {
    const jane = await userOf('jane', ['staff']);
    assert.equal(outputOf(await jane('get pods -n shop -o name')), '');
    assert.match(outputOf(await jane('get --raw /metrics')), /^# HELP/m);
    const refused = await jane('get pods -n other');
    assert.equal(
      refused.stderr,
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "other"\n',
    );
    assert.equal((await jane('auth can-i get pods/log -n shop')).stdout, 'yes\n');
    assert.deepEqual([(await jane('auth can-i create pods/exec -n shop')).stdout, (await jane('auth can-i list pods -A')).code], ['no\n', 1]);
    assert.equal((await jane('auth can-i get /metrics')).stdout, 'yes\n');
  });

  for (const version of kubectlVersions) {
    test(`${version} lists what a user may`, async () => {
      const jane = kubectlOf(await api.kubeconfigFor('jane', ['staff']), version);
      const listed = outputOf(await jane('auth can-i --list -n shop'));
      const row = (pattern: RegExp) => assert.match(listed, pattern);
      row(/^pods\s+\[\]\s+\[\]\s+\[get list\]/m);
      row(/^pods\/log\s+\[\]\s+\[\]\s+\[get list\]/m);
      row(/^selfsubjectaccessreviews\.authorization\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]/m);
      row(/^\s+\[\/metrics\]\s+\[\]\s+\[get\]/m);
      assert.doesNotMatch(listed, /^warning/m);
    });
  }

  test('reconciles a file of roles: what is missing is added, what is more stays', async () => {
    const role = (verbs: string, resources: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: grown, namespace: shop}
rules: [{apiGroups: [''], resources: [${resources}], verbs: [${verbs}]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: grown, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: grown}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ${verbs.includes('watch') ? 'zoe' : 'joe'}}]
`;
    const reconcile = (input: string) => done('auth reconcile -f -', { input });
    await reconcile(role('get', 'configmaps'));
    const told = await reconcile(role('get, watch', 'configmaps'));
    assert.match(told, /role\.rbac\.authorization\.k8s\.io\/grown reconciled/);
    assert.deepEqual(JSON.parse(await done('get role grown -n shop -o jsonpath={.rules}')), [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['watch'] },
    ]);
    assert.equal(await done('get rolebinding grown -n shop -o jsonpath={.subjects[*].name}'), 'joe zoe');
  });
});

describe('an operator with an account of its own', () => {
  test('does with its token what its role says, and cannot raise itself', async () => {
    await done('create serviceaccount operator -n shop');
    await done('create role operator --verb=get,list,watch,create,update,patch --resource=configmaps -n shop');
    await done('create rolebinding operator --role=operator --serviceaccount=shop:operator -n shop');
    const operator = await bearerOf((await done('create token operator -n shop')).trim());
    assert.equal(outputOf(await operator('create configmap state --from-literal=a=b -n shop')), 'configmap/state created\n');
    const input = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"state","namespace":"shop"},"data":{"a":"c"}}';
    assert.match(outputOf(await operator('apply -f -', { input })), /configmap\/state configured/);
    const who = 'User "system:serviceaccount:shop:operator"';
    assert.match(
      (await operator('delete configmap state -n shop')).stderr,
      new RegExp(`configmaps "state" is forbidden: ${who} cannot delete resource "configmaps"`),
    );
    assert.match(
      (await operator('get secrets -n shop')).stderr,
      new RegExp(`${who} cannot list resource "secrets" in API group "" in the namespace "shop"`),
    );
    assert.match((await operator('get configmaps -n other')).stderr, /in the namespace "other"/);
    const asOperator = '--as=system:serviceaccount:shop:operator -n shop';
    assert.equal((await admin(`auth can-i update configmaps ${asOperator}`)).stdout, 'yes\n');
    assert.equal((await admin(`auth can-i get secrets ${asOperator}`)).stdout, 'no\n');
    await done('create role writer --verb=create,get,update,patch --resource=roles -n shop');
    await done('create rolebinding writer --role=writer --serviceaccount=shop:operator -n shop');
    const { stderr } = await operator('create role more --verb=get --resource=secrets -n shop');
    assert.equal(
      stderr,
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io "more" is forbidden: user "system:serviceaccount:shop:operator" ' +
        '(groups=["system:serviceaccounts" "system:serviceaccounts:shop" "system:authenticated"]) is attempting to grant RBAC permissions not ' +
        'currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}\n',
    );
  });
});

describe('the roles for people', () => {
  test('viewers read, editors write, administrators give', { timeout: 20_000 }, async (t) => {
    for (const role of ['view', 'edit', 'admin']) await done(`create rolebinding ${role}s --clusterrole=${role} --user=${role}er -n shop`);
    const [viewer, editor, owner] = [await userOf('viewer'), await userOf('editer'), await userOf('adminer')];
    await becomesAllowed(viewer, 'list deployments.apps -n shop', t.signal);
    await becomesAllowed(editor, 'create deployments.apps -n shop', t.signal);
    await becomesAllowed(owner, 'create rolebindings.rbac.authorization.k8s.io -n shop', t.signal);
    const answer = async (user: Kubectl, words: string) => (await user(`auth can-i ${words} -n shop`)).stdout.trim();
    assert.deepEqual([await answer(viewer, 'get secrets'), await answer(viewer, 'create pods')], ['no', 'no']);
    assert.deepEqual([await answer(editor, 'get secrets'), await answer(editor, 'create roles.rbac.authorization.k8s.io')], ['yes', 'no']);
    // What an administrator of the namespace has he may give, and no more.
    assert.match(outputOf(await owner('create rolebinding given --clusterrole=view --user=somebody -n shop')), /created/);
    assert.match(
      (await owner('create rolebinding taken --clusterrole=cluster-admin --user=somebody -n shop')).stderr,
      /attempting to grant RBAC permissions/,
    );
  });

  test('grow with the roles that are marked for them', { timeout: 20_000 }, async (t) => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const part = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'writers', labels } };
    const rules = [{ apiGroups: [''], resources: ['limitranges'], verbs: ['create'] }];
    await done('apply -f -', { input: JSON.stringify({ ...part, rules }) });
    await becomesAllowed(await userOf('viewer'), 'create limitranges -n shop', t.signal);
    await becomesAllowed(await userOf('adminer'), 'create limitranges -n shop', t.signal);
    const sum = JSON.parse(await done('get clusterrole view -o jsonpath={.rules}'));
    assert.ok(sum.some(({ resources }: { readonly resources: string[] }) => resources.includes('podstartups')));
  });
});
