import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { imageArchive } from './archive.ts';
import { imageNamesIn } from './archive-names.ts';
import { busyboxImage } from './built-in-images.ts';
import { fullReference } from './reference.ts';
import { writeTar } from './tar.ts';

interface Unpacked {
  readonly type: string;
  readonly target: string | undefined;
  readonly content: Buffer;
}

async function unpack(archive: Uint8Array): Promise<ReadonlyMap<string, Unpacked>> {
  const entries = new Map<string, Unpacked>();
  const reader = extract();
  Readable.from([archive]).pipe(reader as unknown as NodeJS.WritableStream);
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
    entries.set(entry.header.name, { type: entry.header.type, target: entry.header.linkname || undefined, content: Buffer.concat(chunks) });
  }
  return entries;
}

const applets = 'bin/busybox\nbin/sh\nusr/sbin/httpd\nlinuxrc\n';

test('every applet of busybox is a link to the one program, and its folders are there', async () => {
  const archive = await unpack(await imageArchive(busyboxImage(Buffer.from('ELF'), applets), 'amd64'));
  const manifest = await manifestOf(archive);
  const layer = await unpack(blob(archive, manifest.layers[0]?.digest ?? ''));
  assert.deepEqual(layer.get('bin/sh'), { type: 'link', target: 'bin/busybox', content: Buffer.alloc(0) });
  assert.deepEqual(layer.get('usr/sbin/httpd'), { type: 'link', target: 'bin/busybox', content: Buffer.alloc(0) });
  assert.equal(layer.get('bin/busybox')?.content.toString(), 'ELF');
  assert.equal(layer.has('linuxrc'), false);
  for (const folder of ['tmp/', 'root/', 'usr/sbin/', 'etc/']) assert.equal(layer.get(folder)?.type, 'directory', folder);
});

test('the archive names its image and each blob is what its digest says', async () => {
  const archive = await unpack(await imageArchive(busyboxImage(Buffer.from('ELF'), applets), 'arm64'));
  const index = JSON.parse(archive.get('index.json')?.content.toString() ?? '');
  assert.equal(index.manifests[0].annotations['io.containerd.image.name'], 'docker.io/library/busybox:latest');
  assert.deepEqual(index.manifests[0].platform, { architecture: 'arm64', os: 'linux' });
  for (const [name, { content, type }] of archive) {
    if (name.startsWith('blobs/sha256/') && type === 'file')
      assert.equal(createHash('sha256').update(content).digest('hex'), name.slice('blobs/sha256/'.length));
  }
});

test('the same content gives the same bytes, whenever it is built', async () => {
  const build = () => imageArchive(busyboxImage(Buffer.from('ELF'), applets), 'amd64');
  assert.deepEqual(Buffer.from(await build()), Buffer.from(await build()));
});

test('names are completed as docker does', () => {
  assert.equal(fullReference('demo'), 'docker.io/library/demo:latest');
  assert.equal(fullReference('team/demo:2'), 'docker.io/team/demo:2');
  assert.equal(fullReference('localhost/demo'), 'localhost/demo:latest');
  assert.equal(fullReference('registry.example:5000/demo'), 'registry.example:5000/demo:latest');
  assert.throws(() => fullReference('Demo'), { code: 'INVALID_INPUT' });
  assert.throws(() => fullReference('a//b'), { code: 'INVALID_INPUT' });
});

test('the names in an archive are read from either layout, compressed or not', async () => {
  const oci = await imageArchive(busyboxImage(Buffer.from('ELF'), applets), 'amd64');
  assert.deepEqual(await imageNamesIn(oci), ['docker.io/library/busybox:latest']);
  assert.deepEqual(await imageNamesIn(gzipSync(oci)), ['docker.io/library/busybox:latest']);
  const manifest = Buffer.from(JSON.stringify([{ Config: 'c.json', RepoTags: ['demo:1', 'localhost/demo:2'], Layers: [] }]));
  const docker = await writeTar([{ kind: 'file', path: 'manifest.json', mode: 0o644, content: manifest }]);
  assert.deepEqual(await imageNamesIn(docker), ['docker.io/library/demo:1', 'localhost/demo:2']);
});

test('what is no archive has no names', async () => {
  for (const bytes of [Buffer.from('not a tar'), Buffer.alloc(0), gzipSync('x'), await writeTar([])]) assert.deepEqual(await imageNamesIn(bytes), []);
});

async function manifestOf(archive: ReadonlyMap<string, Unpacked>): Promise<{ readonly layers: readonly { readonly digest: string }[] }> {
  const index = JSON.parse(archive.get('index.json')?.content.toString() ?? '');
  return JSON.parse(blob(archive, index.manifests[0].digest).toString());
}

function blob(archive: ReadonlyMap<string, Unpacked>, digest: string): Buffer {
  return archive.get(`blobs/sha256/${digest.replace('sha256:', '')}`)?.content ?? Buffer.alloc(0);
}
