import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { fullReference } from './reference.ts';

/** The names of the images in an OCI or Docker archive, compressed or not; none for anything else. */
export async function imageNamesIn(archive: Uint8Array): Promise<readonly string[]> {
  const indexes = new Map<string, unknown>();
  const reader = extract();
  reader.on('entry', (header, content, next) => {
    const chunks: Uint8Array[] = [];
    const isWanted = header.name === 'index.json' || header.name === 'manifest.json';
    content.on('data', (chunk) => {
      if (isWanted) chunks.push(chunk as Uint8Array); // the package's types leave it open
    });
    content.on('end', () => {
      if (isWanted) indexes.set(header.name, parseJson(Buffer.concat(chunks).toString()));
      next();
    });
  });
  try {
    const isCompressed = archive[0] === 0x1f && archive[1] === 0x8b;
    const sink = reader as unknown as NodeJS.WritableStream; // a writable of the package's own, which behaves as Node's
    if (isCompressed) await pipeline(Readable.from([archive]), createGunzip(), sink);
    else await pipeline(Readable.from([archive]), sink);
  } catch {
    return []; // not a tar file, or cut short
  }
  const names = [...namesOfIndex(indexes.get('index.json')), ...namesOfManifest(indexes.get('manifest.json'))];
  return [...new Set(names)];
}

/** Source: the OCI image layout; containerd's annotation has the whole name. */
function namesOfIndex(index: unknown): readonly string[] {
  return listAt(index, 'manifests').flatMap((manifest) => {
    const name = fieldOf(fieldOf(manifest, 'annotations'), 'io.containerd.image.name');
    return typeof name === 'string' ? [name] : [];
  });
}

/** Source: the layout of `docker save`. */
function namesOfManifest(manifest: unknown): readonly string[] {
  if (!Array.isArray(manifest)) return [];
  return manifest.flatMap((image) => listAt(image, 'RepoTags')).flatMap((name) => (typeof name === 'string' ? [fullReference(name)] : []));
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
