import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import type { FilesPort } from '../ports/files.ts';
import { type AtomicWriter, type Payload, writeAtomically } from './atomic-writer.ts';

const { signal } = new AbortController();
const nothing = async () => undefined;

async function open(): Promise<AtomicWriter & { readonly clock: FakeClock }> {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/v', 0o777, signal);
  return { files, clock: new FakeClock(Date.UTC(2026, 0, 2, 15, 4, 5)), random: () => 0.123_456_789 };
}

function payloadOf(files: Readonly<Record<string, string>>): Payload {
  return new Map(Object.entries(files).map(([path, content]) => [path, { content, mode: 0o644 }]));
}

/** What a container sees: the names without dots, folders walked. */
async function visible(files: FilesPort, dir: string, prefix = ''): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for (const { name } of await files.list(`${dir}/${prefix}`, signal)) {
    if (prefix === '' && name.startsWith('..')) continue;
    const path = `${dir}/${prefix}${name}`;
    try {
      seen[prefix + name] = new TextDecoder().decode(await files.read(path, signal));
    } catch {
      Object.assign(seen, await visible(files, dir, `${prefix}${name}/`));
    }
  }
  return seen;
}

test('the layout is upstream’s', async () => {
  const writer = await open();
  await writeAtomically(writer, '/v', payloadOf({ key: 'value', 'sub/deep/key': 'two' }), nothing, signal);
  const links = await Promise.all(['/v/..data', '/v/key', '/v/sub'].map((path) => writer.files.readLink(path, signal)));
  assert.deepEqual(links, ['..2026_01_02_15_04_05.1234567890', '..data/key', '..data/sub']);
  assert.deepEqual(await visible(writer.files, '/v'), { key: 'value', 'sub/deep/key': 'two' });
});

test('modes are exact, and the owner is the one that was asked for', async () => {
  const writer = await open();
  await writeAtomically(writer, '/v', new Map([['k', { content: 'x', mode: 0o400, userId: 7 }]]), nothing, signal);
  const facts = await writer.files.stat('/v/..data/k', signal);
  assert.deepEqual([facts?.mode, facts?.uid, facts?.gid], [0o400, 7, 0]);
});

test('the same content is left alone, and a lost link is made again', async () => {
  const writer = await open();
  await writeAtomically(writer, '/v', payloadOf({ a: '1', b: '2' }), nothing, signal);
  await writer.files.removeTree('/v/a', signal);
  await writer.clock.advance(1000);
  let swaps = 0;
  await writeAtomically(
    writer,
    '/v',
    payloadOf({ a: '1', b: '2' }),
    async () => {
      swaps += 1;
    },
    signal,
  );
  assert.deepEqual([swaps, await visible(writer.files, '/v')], [0, { a: '1', b: '2' }]);
});

test('new content replaces the old as a whole, and a mount point inside stays', async () => {
  const writer = await open();
  await writeAtomically(writer, '/v', payloadOf({ a: '1', 'gone/x': '2' }), nothing, signal);
  await writer.files.ensureDirectory('/v/nested', 0o755, signal);
  await writer.clock.advance(1000);
  await writeAtomically(writer, '/v', payloadOf({ a: 'new', c: '3' }), nothing, signal);
  assert.deepEqual(await visible(writer.files, '/v'), { a: 'new', c: '3' });
  const names = (await writer.files.list('/v', signal)).map(({ name }) => name).sort();
  assert.deepEqual(names, ['..2026_01_02_15_04_06.1234567890', '..data', 'a', 'c', 'nested']);
});

test('until the swap a reader sees the old content', async () => {
  const writer = await open();
  await writeAtomically(writer, '/v', payloadOf({ a: 'old' }), nothing, signal);
  await writer.clock.advance(1000);
  const failed = writeAtomically(
    writer,
    '/v',
    payloadOf({ a: 'new' }),
    async () => {
      throw new Error('crash');
    },
    signal,
  );
  await assert.rejects(failed, /crash/);
  assert.deepEqual(await visible(writer.files, '/v'), { a: 'old' });
  await writer.clock.advance(1000);
  await writeAtomically(writer, '/v', payloadOf({ a: 'new' }), nothing, signal);
  assert.deepEqual((await writer.files.list('/v', signal)).map(({ name }) => name).sort(), ['..2026_01_02_15_04_07.1234567890', '..data', 'a']);
});

test('no path leads out of the volume', async () => {
  const writer = await open();
  for (const path of ['', '/etc/passwd', '../x', 'a/../../x', '..data', '..', 'a'.repeat(256), `${'a/'.repeat(2100)}a`]) {
    await assert.rejects(writeAtomically(writer, '/v', payloadOf({ [path]: 'x' }), nothing, signal), { code: 'VOLUME_SET_UP_FAILED' }, path);
  }
  assert.deepEqual(await writer.files.list('/v', signal), []);
});

test('after any sequence of payloads exactly the last one is seen', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd/x', 'd/y', 'e/f/g');
  const content = fc.dictionary(name, fc.string(), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 5 }), async (payloads) => {
      const writer = await open();
      for (const payload of payloads) {
        await writer.clock.advance(1000);
        await writeAtomically(writer, '/v', payloadOf(payload), nothing, signal);
      }
      assert.deepEqual(await visible(writer.files, '/v'), { ...payloads.at(-1) });
      const hidden = (await writer.files.list('/v', signal)).filter((entry) => entry.name.startsWith('..'));
      assert.equal(hidden.length, 2);
    }),
    { numRuns: 50 },
  );
});
