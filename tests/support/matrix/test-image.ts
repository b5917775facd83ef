import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type ImageConfig, imageArchive } from '#cluster/images/archive.ts';
import { busyboxImage } from '#cluster/images/built-in-images.ts';
import type { TarEntry } from '#cluster/images/tar.ts';
import type { TestCluster } from '#testing/create-cluster.ts';

/** Puts an image into the node's runtime that is busybox with another configuration, and with files of its own. */
export async function loadTestImage(
  cluster: TestCluster,
  name: string,
  config: Partial<ImageConfig>,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const program = '/bin/busybox';
  const [content, applets] = await Promise.all([readFile(program), promisify(execFile)(program, ['--list-full'])]);
  const base = busyboxImage(content, applets.stdout);
  const own = Object.entries(files).map(([path, text]): TarEntry => ({ kind: 'file', path, mode: 0o644, content: Buffer.from(text) }));
  const paths = new Set(own.map(({ path }) => path));
  const image = {
    name: `docker.io/library/${name}`,
    config: { ...base.config, ...config },
    files: [...base.files.filter(({ path }) => !paths.has(path)), ...own],
  };
  const archive = `${cluster.paths.dataDir}/${name.replace(':', '-')}.tar`;
  await writeFile(archive, await imageArchive(image, process.arch === 'x64' ? 'amd64' : process.arch));
  await cluster.loadImage(archive);
  await rm(archive);
  return image.name;
}
