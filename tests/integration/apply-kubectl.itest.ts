import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProgramResult } from '#testing/run-program.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { type Kubectl, kubectlOf, outputOf } from '../support/kubectl.ts';

let api: TestApiServer;
let kubectl: Kubectl;

before(async () => {
  api = await startApiServer();
  kubectl = kubectlOf(api.kubeconfigFile, '1.35');
});
after(() => api[Symbol.asyncDispose]());

const deployment = (name: string, replicas: number, image = 'a:1') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers: [{name: main, image: '${image}', ports: [{containerPort: 80}]}]
`;
const apply = (manifest: string, more = ''): Promise<ProgramResult> => kubectl(`apply --server-side${more} -f -`, { input: manifest });

/** Managers and what they do, in the order of the object. */
async function managersOf(what: string): Promise<readonly string[]> {
  const text = outputOf(await kubectl(`get ${what} -o json --show-managed-fields`));
  const { metadata } = JSON.parse(text) as { readonly metadata: { readonly managedFields?: readonly Manager[] } }; // kubectl prints the object
  return (metadata.managedFields ?? []).map(({ manager, operation }) => `${operation} ${manager}`);
}

interface Manager {
  readonly manager: string;
  readonly operation: string;
}

test('two managers apply one object: the second is told what the first owns, and may take it', async () => {
  assert.equal(outputOf(await apply(deployment('two', 3))), 'deployment.apps/two serverside-applied\n');
  const refused = await apply(deployment('two', 5), ' --field-manager=other');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.replicas\n/);
  assert.equal(outputOf(await kubectl('get deployment two -o jsonpath={.spec.replicas}')), '3');
  outputOf(await apply(deployment('two', 5), ' --field-manager=other --force-conflicts'));
  assert.equal(outputOf(await kubectl('get deployment two -o jsonpath={.spec.replicas}')), '5');
  assert.deepEqual(await managersOf('deployment two'), ['Apply kubectl', 'Apply other']);
});

test('applying again what is there changes nothing; what is dropped goes', async () => {
  outputOf(await apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\ndata: {a: "1", b: "2"}\n'));
  const before = outputOf(await kubectl('get configmap same -o yaml --show-managed-fields'));
  outputOf(await apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\ndata: {a: "1", b: "2"}\n'));
  assert.equal(outputOf(await kubectl('get configmap same -o yaml --show-managed-fields')), before);
  assert.match(before, /fieldsV1:\n\s+f:data:\n\s+f:a: \{\}\n\s+f:b: \{\}\n\s+manager: kubectl\n\s+operation: Apply\n/);
  outputOf(await apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\ndata: {a: "1"}\n'));
  assert.equal(outputOf(await kubectl('get configmap same -o jsonpath={.data}')), '{"a":"1"}');
});

test('what the client applied becomes what the server applies, without a conflict and with nothing left behind', async () => {
  outputOf(await kubectl('apply -f -', { input: deployment('moved', 2) }));
  assert.deepEqual(await managersOf('deployment moved'), ['Update kubectl-client-side-apply']);
  const moved = await apply(deployment('moved', 4, 'a:2'));
  assert.equal(outputOf(moved), 'deployment.apps/moved serverside-applied\n');
  const shown = outputOf(await kubectl('get deployment moved -o jsonpath={.spec.replicas}{.spec.template.spec.containers[*].image}'));
  assert.equal(shown, '4a:2');
  const managers = await managersOf('deployment moved');
  assert.ok(managers.includes('Apply kubectl') && !managers.includes('Update kubectl-client-side-apply'), managers.join(', '));
  // A client-side apply may follow: the annotation says what was applied last, so what is left out goes.
  const ported = "[{name: main, image: 'a:2', ports: [{containerPort: 80}]}]";
  const portless = deployment('moved', 4, 'a:2').replace(ported, "[{name: main, image: 'a:2'}]");
  assert.equal(outputOf(await kubectl('apply -f -', { input: portless })), 'deployment.apps/moved configured\n');
  assert.equal(outputOf(await kubectl('get deployment moved -o jsonpath={.spec.template.spec.containers[0].ports}')), '');
});

test('a difference is shown without being made', async () => {
  outputOf(await apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shown}\ndata: {a: "1"}\n'));
  const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shown}\ndata: {a: "2"}\n';
  const different = await kubectl('diff --server-side -f -', { input });
  assert.equal(different.code, 1, different.stderr);
  assert.match(different.stdout, /-\s+a: "1"\n\+\s+a: "2"\n/);
  assert.equal(outputOf(await kubectl('get configmap shown -o jsonpath={.data.a}')), '1');
  const same = await kubectl('diff --server-side -f -', { input: input.replace('"2"', '"1"') });
  assert.deepEqual([same.code, same.stdout], [0, '']);
});

test('who changes an object owns what it changed; who scales it, its replicas', async () => {
  outputOf(await apply(deployment('scaled', 1)));
  outputOf(await kubectl('label deployment scaled tier=web'));
  outputOf(await kubectl('scale deployment scaled --replicas=3'));
  const owners = outputOf(await kubectl('get deployment scaled -o json --show-managed-fields'));
  const { metadata } = JSON.parse(owners) as { readonly metadata: { readonly managedFields: readonly Record<string, unknown>[] } }; // see above
  const shown = metadata.managedFields.slice(1).map(({ manager, subresource, fieldsV1 }) => ({ manager, subresource, fieldsV1 }));
  assert.deepEqual(
    shown.toSorted((a, b) => (String(a.manager) < String(b.manager) ? -1 : 1)),
    [
      { manager: 'kubectl', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      { manager: 'kubectl-label', subresource: undefined, fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:tier': {} } } } },
    ],
  );
  const refused = await apply(deployment('scaled', 2));
  assert.match(refused.stderr, /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/);
});

test('a field that the kind does not have is refused', async () => {
  const refused = await apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\nfoo: 1\n', ' --validate=ignore');
  assert.match(refused.stderr, /failed to create typed patch object \(default\/bad; \/v1, Kind=ConfigMap\): \.foo: field not declared in schema/);
});
