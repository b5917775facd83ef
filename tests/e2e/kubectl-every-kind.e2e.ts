import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import type { KubeObject } from '#api/object.ts';
import { everyKind, writeEveryKind } from '../support/every-kind.ts';
import { type KubectlVersion, kubectlVersions, outputOf } from '../support/kubectl.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster({ nodes: 0 });
const folder = await mkdtemp(join(tmpdir(), 'kubectl-every-kind-'));
after(() => rm(folder, { recursive: true, force: true }));

const objects = await everyKind();
const file = join(folder, 'every-kind.json');
const fieldFile = join(folder, 'labelled.json');
await writeEveryKind(file, objects);
await writeEveryKind(
  fieldFile,
  objects.map((object) => ({ ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, walked: 'twice' } } })),
);

function kindOf(object: KubeObject): Kind {
  const kind = kinds.find((candidate) => apiVersionOf(candidate) === object.apiVersion && candidate.kind === object.kind);
  if (kind === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not a kind of this server`);
  return kind;
}

/** `deployment.apps/walk`, as kubectl names an object. */
const named = (object: KubeObject) => {
  const { group, singular } = kindOf(object);
  return `${singular}${group === '' ? '' : `.${group}`}/${object.metadata.name}`;
};
const lines = (output: string) => output.trim().split('\n');
const namesIn = (output: string) => lines(output).sort();
const allNames = (suffix: string) => objects.map((object) => `${named(object)}${suffix}`).sort();

/** Its describers of these ask for versions that upstream no longer serves either. */
const notDescribed: Readonly<Record<KubectlVersion, readonly string[]>> = {
  '1.20': ['CronJob', 'PodDisruptionBudget', 'EndpointSlice', 'HorizontalPodAutoscaler', 'Ingress', 'IngressClass', 'CSINode'],
  '1.28': ['IPAddress'],
  '1.35': [],
};

test('every kind that can be created has an object here', () => {
  const creatable = kinds.filter(({ verbs }) => verbs.includes('create') && verbs.includes('list'));
  assert.deepEqual(
    creatable.map((kind) => `${apiVersionOf(kind)} ${kind.kind}`).sort(),
    objects.map((object) => `${object.apiVersion} ${object.kind}`).sort(),
  );
});

for (const version of kubectlVersions) {
  const kubectl = cluster.kubectlOf(version);
  const revisions = async () =>
    lines(outputOf(await kubectl(['get', '-f', file, '-o', 'jsonpath={range .items[*]}{.kind} {.metadata.resourceVersion}{"\\n"}{end}'])));

  describe(`kubectl ${version}`, () => {
    before(async () => {
      assert.deepEqual(namesIn(outputOf(await kubectl(`create -f ${file} --save-config`))), allNames(' created'));
    });
    after(async () => {
      await kubectl(`delete -f ${file} --ignore-not-found --wait=false`); // what a failed test has left
    });

    test('get shows a table with the columns of each kind', async () => {
      const tables = outputOf(await kubectl(`get -f ${file} -o wide`))
        .trim()
        .split('\n\n');
      const shown = tables.map((table) => lines(table)[0]?.trim().split(/ {2,}/));
      const expected = objects.map((object) => kindOf(object).columns.map(({ name }) => name.toUpperCase()));
      assert.deepEqual(shown, expected);
    });

    test('get -o name, -o json and describe find every object', async () => {
      assert.deepEqual(namesIn(outputOf(await kubectl(`get -f ${file} -o name`))), allNames(''));
      const { items } = JSON.parse(outputOf(await kubectl(`get -f ${file} -o json`))) as { items: KubeObject[] };
      assert.equal(items.length, objects.length);
      for (const { kind, metadata } of items) assert.match(metadata.uid, /^[0-9a-f-]{36}$/, kind);
      const describable = objects.filter(({ kind }) => !notDescribed[version].includes(kind));
      const some = join(folder, `describe-${version}.json`);
      await writeEveryKind(some, describable);
      const described = outputOf(await kubectl(`describe -f ${some}`));
      const names = [...described.matchAll(/^Name: +(\S+)/gm)].map(([, name]) => name);
      assert.deepEqual(names.sort(), describable.map(({ metadata }) => metadata.name).sort());
    });

    test('label, annotate, patch change every object, and a second time none', async () => {
      assert.deepEqual(namesIn(outputOf(await kubectl(`label -f ${file} walked=once`))), allNames(' labeled'));
      assert.deepEqual(namesIn(outputOf(await kubectl(`annotate -f ${file} walked=once`))), allNames(' annotated'));
      const patch = ['patch', '--type', 'merge', '-f', file, '-p', '{"metadata":{"annotations":{"walked":"again"}}}'];
      assert.deepEqual(namesIn(outputOf(await kubectl(patch))), allNames(' patched'));
      const patched = await revisions();
      outputOf(await kubectl(patch));
      assert.deepEqual(await revisions(), patched);
    });

    test('diff tells what apply would change, apply changes it, and a second time nothing', async () => {
      const difference = await kubectl(`diff -f ${fieldFile}`);
      assert.equal(difference.code, 1, difference.stderr);
      assert.equal([...difference.stdout.matchAll(/^\+ {4}walked: twice$/gm)].length, objects.length);
      assert.deepEqual(namesIn(outputOf(await kubectl(`apply -f ${fieldFile}`))), allNames(' configured'));
      const applied = await revisions();
      outputOf(await kubectl(`apply -f ${fieldFile}`));
      assert.deepEqual(await revisions(), applied);
      const again = await kubectl(`diff -f ${fieldFile}`);
      assert.deepEqual([again.code, again.stdout], [0, '']);
    });

    test('delete removes every object', async () => {
      const deleted = outputOf(await kubectl(`delete -f ${file} --wait=false`));
      for (const { kind, metadata } of objects) assert.match(deleted, new RegExp(`"${metadata.name}" .*deleted|"${metadata.name}" deleted`), kind);
      outputOf(await cluster.kubectl(`wait --for=delete -f ${file} --timeout=30s`));
      assert.equal(outputOf(await kubectl(`get -f ${file} -o name --ignore-not-found`)), '');
    });
  });
}

test('explain has every kind and its fields', async () => {
  const explained = await Promise.all(
    objects.map(async ({ apiVersion, kind }) => {
      const own = kinds.find((candidate) => candidate.kind === kind && apiVersionOf(candidate) === apiVersion);
      return outputOf(await cluster.kubectl(['explain', own?.plural ?? '', '--api-version', apiVersion]));
    }),
  );
  for (const [index, text] of explained.entries()) {
    assert.match(text, new RegExp(`KIND: +${objects[index]?.kind}\n`));
    assert.match(text, /metadata\s+<(Object|ObjectMeta)>/);
  }
});
