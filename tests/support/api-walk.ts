import assert from 'node:assert/strict';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import type { Answer, InProcessServer, WatchLine } from '#apiserver/testing/in-process-server.ts';

export interface ApiWalk {
  readonly kind: Kind;
  /** An object to create, without a name: it gets one made up. With a function the objects name themselves. */
  readonly manifest: object | ((index: number) => object);
  /** A field selector that all objects of the walk match. */
  readonly fieldSelector?: string;
  /** A status to be set through `/status`; needed where the kind has that endpoint. */
  readonly status?: object;
}

const count = 3;
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const json = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

/**
 * What the conformance suite does once with each kind: discovery, three creates, reads by selectors, a watch from the list, the patches, PUT,
 * the status, deletes of one and of a collection. Fails with an assertion.
 */
export async function walkApi(api: InProcessServer, walk: ApiWalk): Promise<void> {
  const { kind } = walk;
  const label = `walk=${kind.plural}`;
  const root = kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`;
  const all = `${root}/${kind.plural}`;
  const own = kind.scope === 'Namespaced' ? `${root}/namespaces/default/${kind.plural}` : all;
  await checkDiscovery(api, kind, root);
  const names = await createAll(api, walk, own);
  const { resourceVersion } = await checkLists(api, walk, { own, all, label, names });
  using stop = new Stop();
  const watch = `${all}?watch=1&labelSelector=${encodeURIComponent(label)}&resourceVersion=${resourceVersion}`;
  const seen = collect(api.watch(watch, stop.signal));
  const [first = '', ...others] = names;
  const versions = [...(await checkPatches(api, `${own}/${first}`)), ...(await checkStatus(api, walk, `${own}/${first}`))];
  await checkDeletes(api, own, first, others, label);
  await seen.until((event) => event.type === 'DELETED' && others.every((name) => seen.isDeleted(name)));
  const changes = seen.events.filter(({ type, object }) => type === 'MODIFIED' && object.metadata.name === first);
  const shown = changes.map(({ object }) => object.metadata.resourceVersion);
  assert.deepEqual(shown.slice(0, versions.length), versions, 'the watch shows every change in order');
  assert.ok(
    seen.events.every(({ object }) => object.kind === kind.kind && object.apiVersion === apiVersionOf(kind)),
    'objects of a watch say what they are',
  );
}

async function checkDiscovery(api: InProcessServer, kind: Kind, root: string): Promise<void> {
  if (kind.group !== '') {
    const { body: groups } = await api.call('GET', '/apis');
    assert.ok(groups.groups.some(({ name }: { readonly name: string }) => name === kind.group));
    for (const url of [`/apis/${kind.group}`, `/apis/${kind.group}/`]) {
      assert.equal((await api.call('GET', url)).body.preferredVersion.groupVersion.split('/')[0], kind.group);
    }
  }
  const { body } = await api.call('GET', root);
  const resources = new Map(body.resources.map((resource: { readonly name: string }) => [resource.name, resource]));
  assert.deepEqual(
    [...kind.subresources].filter((name) => !resources.has(`${kind.plural}/${name}`)),
    [],
  );
  assert.ok(resources.has(kind.plural));
}

async function createAll(api: InProcessServer, { kind, manifest }: ApiWalk, own: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const given = typeof manifest === 'function' ? manifest(index) : { ...manifest, metadata: { ...metadataOf(manifest), generateName: 'walk-' } };
    const metadata = { ...metadataOf(given), labels: { ...metadataOf(given).labels, walk: kind.plural, index: String(index) } };
    const { body } = succeeded(await api.call('POST', own, { body: { ...given, metadata } }), 201);
    assert.deepEqual([body.kind, body.apiVersion], [kind.kind, apiVersionOf(kind)]);
    names.push(body.metadata.name);
  }
  assert.equal(new Set(names).size, count);
  return names;
}

interface Place {
  readonly own: string;
  readonly all: string;
  readonly label: string;
  readonly names: readonly string[];
}

async function checkLists(api: InProcessServer, walk: ApiWalk, { own, all, label, names }: Place): Promise<{ readonly resourceVersion: string }> {
  const namesIn = ({ body }: Answer) => body.items.map((item: { readonly metadata: { readonly name: string } }) => item.metadata.name);
  const selectors = [`labelSelector=${encodeURIComponent(label)}`];
  if (walk.fieldSelector !== undefined) selectors.push(`fieldSelector=${encodeURIComponent(walk.fieldSelector)}`);
  for (const url of [own, all]) {
    for (const selector of selectors) {
      const list = succeeded(await api.call('GET', `${url}?${selector}`));
      assert.equal(list.body.kind, `${walk.kind.kind}List`);
      assert.deepEqual(namesIn(list), [...names].sort(), `${url}?${selector}`);
    }
    const [first = ''] = names;
    assert.deepEqual(namesIn(succeeded(await api.call('GET', `${url}?fieldSelector=metadata.name%3D${first}`))), [first]);
    const table = await api.call('GET', `${url}?labelSelector=${encodeURIComponent(label)}`, { headers: asTable });
    assert.equal(table.body.rows.length, names.length);
    assert.ok(table.body.rows.every(({ cells }: { readonly cells: readonly unknown[] }) => cells.length === walk.kind.columns.length));
  }
  return succeeded(await api.call('GET', own)).body.metadata;
}

const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

/** @returns the revisions that the changes made */
async function checkPatches(api: InProcessServer, url: string): Promise<readonly string[]> {
  const versions: string[] = [];
  const patch = async (type: string, body: object, key: string, value: string) => {
    const answer = succeeded(await api.call('PATCH', url, { body, headers: { 'content-type': type } }));
    assert.equal(answer.body.metadata.annotations[key], value);
    versions.push(answer.body.metadata.resourceVersion);
  };
  await patch(merge, { metadata: { annotations: { patched: 'merge' } } }, 'patched', 'merge');
  await patch(strategic, { metadata: { annotations: { patched: 'strategic' } } }, 'patched', 'strategic');
  await patch(json, [{ op: 'replace', path: '/metadata/annotations/patched', value: 'json' }], 'patched', 'json');
  const { apiVersion, kind, metadata } = succeeded(await api.call('GET', url)).body;
  const applied = { apiVersion, kind, metadata: { name: metadata.name, annotations: { applied: 'yes' } } };
  const answer = succeeded(await api.call('PATCH', `${url}?fieldManager=walker`, { body: applied, headers: { 'content-type': apply } }));
  assert.ok(answer.body.metadata.managedFields.some(({ manager }: { readonly manager: string }) => manager === 'walker'));
  versions.push(answer.body.metadata.resourceVersion);
  const { body: current } = succeeded(await api.call('GET', url));
  const annotations = { ...current.metadata.annotations, updated: 'yes' };
  const { body: updated } = succeeded(await api.call('PUT', url, { body: { ...current, metadata: { ...current.metadata, annotations } } }));
  assert.equal(updated.metadata.annotations.updated, 'yes');
  const stale = await api.call('PUT', url, { body: { ...current, metadata: { ...current.metadata, annotations: { late: 'yes' } } } });
  assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict']);
  const same = succeeded(await api.call('PUT', url, { body: updated }));
  assert.equal(same.body.metadata.resourceVersion, updated.metadata.resourceVersion, 'a write that changes nothing is none');
  return [...versions, updated.metadata.resourceVersion];
}

async function checkStatus(api: InProcessServer, { kind, status }: ApiWalk, url: string): Promise<readonly string[]> {
  if (!kind.subresources.includes('status')) return [];
  assert.ok(status !== undefined, `a walk through ${kind.plural} needs a status`);
  const { body: read } = succeeded(await api.call('GET', `${url}/status`));
  assert.equal(read.kind, kind.kind);
  const body = { metadata: { annotations: { patched: 'status' } }, status };
  const { body: patched } = succeeded(await api.call('PATCH', `${url}/status`, { body, headers: { 'content-type': merge } }));
  assert.equal(patched.metadata.annotations.patched, 'status');
  assertHas(patched.status, status);
  const metadata = { ...patched.metadata, annotations: { ...patched.metadata.annotations, updated: 'status' } };
  const { body: put } = succeeded(await api.call('PUT', `${url}/status`, { body: { ...patched, metadata } }));
  assert.deepEqual([put.metadata.annotations.updated, put.metadata.generation], ['status', read.metadata.generation]);
  const { body: kept } = succeeded(
    await api.call('PATCH', url, { body: { status: null, metadata: { annotations: { end: '1' } } }, headers: { 'content-type': merge } }),
  );
  assertHas(kept.status, status);
  return [patched, put, kept].map((object) => object.metadata.resourceVersion);
}

async function checkDeletes(api: InProcessServer, own: string, first: string, others: readonly string[], label: string): Promise<void> {
  succeeded(await api.call('DELETE', `${own}/${first}`));
  await release(api, `${own}/${first}`);
  assert.equal((await api.call('GET', `${own}/${first}`)).status, 404);
  const [second = '', third = ''] = others;
  succeeded(await api.call('DELETE', `${own}?labelSelector=${encodeURIComponent(`${label},index=1`)}`));
  await release(api, `${own}/${second}`);
  assert.equal((await api.call('GET', `${own}/${second}`)).status, 404);
  assert.equal((await api.call('GET', `${own}/${third}`)).status, 200, 'a deletion by a selector leaves the others');
  succeeded(await api.call('DELETE', `${own}?labelSelector=${encodeURIComponent(label)}`));
  await release(api, `${own}/${third}`);
}

/** Takes the finalizers off an object that is kept by them. */
async function release(api: InProcessServer, url: string): Promise<void> {
  const { status, body } = await api.call('GET', url);
  if (status === 404) return;
  assert.ok(body.metadata.deletionTimestamp !== undefined);
  succeeded(await api.call('PATCH', url, { body: { metadata: { finalizers: null } }, headers: { 'content-type': merge } }));
}

function succeeded(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer;
}

function metadataOf(manifest: object): { readonly labels?: object } {
  return 'metadata' in manifest ? (manifest.metadata ?? {}) : {};
}

/** Whatever `part` says stands in `whole` too. */
function assertHas(whole: unknown, part: object): void {
  assert.deepEqual(whole, { ...(whole as object), ...part }); // a status is an object
}

interface Seen {
  readonly events: readonly WatchLine[];
  isDeleted(name: string): boolean;
  until(isEnough: (event: WatchLine) => boolean): Promise<void>;
}

function collect(lines: AsyncGenerator<WatchLine, void, void>): Seen {
  const events: WatchLine[] = [];
  return {
    events,
    isDeleted: (name) => events.some(({ type, object }) => type === 'DELETED' && object.metadata.name === name),
    async until(isEnough) {
      for await (const event of lines) {
        events.push(event);
        if (isEnough(event)) return;
      }
      assert.fail('the watch ended too early');
    },
  };
}

class Stop extends AbortController implements Disposable {
  [Symbol.dispose](): void {
    this.abort();
  }
}
