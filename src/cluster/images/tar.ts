import { pack } from 'tar-stream';

/** One entry of an archive, by its path without a leading slash. Parents come before children. */
export type TarEntry =
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number }
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly content: Uint8Array }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** Everything belongs to root and has no age, so that equal entries give equal bytes and an image's digest tells its content. */
const common = { uid: 0, gid: 0, mtime: new Date(0) };

export async function writeTar(entries: readonly TarEntry[]): Promise<Uint8Array> {
  const archive = pack();
  for (const entry of entries) {
    if (entry.kind === 'file') archive.entry({ ...common, type: 'file', name: entry.path, mode: entry.mode }, entry.content);
    else if (entry.kind === 'directory') archive.entry({ ...common, type: 'directory', name: `${entry.path}/`, mode: entry.mode });
    else archive.entry({ ...common, type: entry.kind, name: entry.path, linkname: entry.target, mode: 0o777 });
  }
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive as AsyncIterable<Uint8Array>) chunks.push(chunk); // its types leave the chunks open
  return Buffer.concat(chunks);
}
