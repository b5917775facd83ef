import { dirname } from 'node:path';
import { InvalidInput, NotFound } from '#base/errors.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { type ImageConfig, imageArchive } from './archive.ts';
import { fullReference } from './reference.ts';
import { busyboxContent } from './runtime-images.ts';
import type { TarEntry } from './tar.ts';

export interface BuildRequest {
  /** `demo:1` is short for `docker.io/library/demo:1`. */
  readonly name: string;
  /** From the host's path, a file or a whole folder, to the absolute path in the image. */
  readonly copies: readonly { readonly from: string; readonly to: string }[];
  /** Whether the image has busybox with all its applets below what is copied. */
  readonly onBusybox: boolean;
  readonly config: ImageConfig;
}

/** @returns an archive that `loadImage`, docker and podman take. @throws {NotFound} when a path of the host is not there */
export async function buildImage(request: BuildRequest, host: ClusterHost, signal: AbortSignal): Promise<Uint8Array> {
  const base = request.onBusybox ? await busyboxContent(host, signal) : undefined;
  const copied: TarEntry[] = [];
  for (const { from, to } of request.copies) copied.push(...(await entriesOf(from, inImage(to), host)));
  const config = { ...request.config, environment: [...(base?.config.environment ?? []), ...request.config.environment] };
  return await imageArchive(
    { name: fullReference(request.name), config, files: withParents([...(base?.files ?? []), ...copied]) },
    host.architecture,
  );
}

async function entriesOf(from: string, to: string, host: ClusterHost): Promise<readonly TarEntry[]> {
  const facts = await host.files.facts(from);
  switch (facts?.kind) {
    case 'file':
      return [{ kind: 'file', path: to, mode: facts.mode, content: (await host.files.readBytes(from)) ?? new Uint8Array() }];
    case 'symlink':
      return [{ kind: 'symlink', path: to, target: (await host.files.readLink(from)) ?? '' }];
    case 'directory': {
      const below: TarEntry[] = to === '' ? [] : [{ kind: 'directory', path: to, mode: facts.mode }];
      for (const { name } of await host.files.list(from))
        below.push(...(await entriesOf(`${from}/${name}`, to === '' ? name : `${to}/${name}`, host)));
      return below;
    }
    case 'other':
      throw new InvalidInput({ message: `${from} is neither a file, a folder nor a symbolic link` });
    case undefined:
      throw new NotFound({ message: `${from} is not there` });
  }
}

function inImage(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new InvalidInput({ message: `${path} leaves the image` });
  return parts.join('/');
}

/** Folders that nobody copied, before what is in them. */
function withParents(entries: readonly TarEntry[]): readonly TarEntry[] {
  const known = new Set<string>(['.', ...entries.flatMap((entry) => (entry.kind === 'directory' ? [entry.path] : []))]);
  return entries.flatMap((entry) => {
    const missing: TarEntry[] = [];
    for (let parent = dirname(entry.path); !known.has(parent); parent = dirname(parent)) {
      known.add(parent);
      missing.unshift({ kind: 'directory', path: parent, mode: 0o755 });
    }
    return [...missing, entry];
  });
}
