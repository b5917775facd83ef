import type { Clock } from '#base/clock.ts';
import type { FilesPort } from '../ports/files.ts';
import { VolumeSetUpFailed } from './volume-plugin.ts';

export interface PayloadFile {
  readonly content: Uint8Array | string;
  readonly mode: number;
  /** Absent: ours. */
  readonly userId?: number | undefined;
}

/** Content by path below the volume's root. */
export type Payload = ReadonlyMap<string, PayloadFile>;

export interface AtomicWriter {
  readonly files: FilesPort;
  readonly clock: Clock;
  /** 0 <= n < 1. */
  readonly random: () => number;
}

const DATA = '..data';
const NAME_MAX = 255;
const PATH_MAX = 4096;

/**
 * Puts a payload into a folder so that a reader sees the old one or the new one, never a mix:
 * `<dir>/<key> -> ..data/<key>`, `<dir>/..data -> ..<time>`, and only `..data` is changed.
 *
 * @param beforeSwap runs when the new files are there and nobody sees them yet
 * @throws {VolumeSetUpFailed} when a path is none that may be; the old content stays
 */
export async function writeAtomically(
  writer: AtomicWriter,
  dir: string,
  payload: Payload,
  beforeSwap: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const path of payload.keys()) checkPath(path);
  const { files } = writer;
  const old = await files.readLink(`${dir}/${DATA}`, signal);
  if (old === undefined || (await isDifferent(files, `${dir}/${old}`, payload, signal))) {
    const next = `..${timestamp(writer)}`;
    await writeFiles(files, `${dir}/${next}`, payload, signal);
    await beforeSwap();
    await files.link(next, `${dir}/${DATA}`, signal);
    await showFiles(files, dir, payload, signal);
    if (old !== undefined) await removeStale(files, dir, next, payload, signal);
  } else await showFiles(files, dir, payload, signal);
}

function checkPath(path: string): void {
  const parts = path.split('/');
  const isGood =
    path !== '' &&
    !path.startsWith('/') &&
    !path.startsWith('..') &&
    path.length <= PATH_MAX &&
    parts.every((part) => part !== '..' && part.length <= NAME_MAX);
  if (!isGood)
    throw new VolumeSetUpFailed({ message: `invalid path: ${JSON.stringify(path)}`, hint: 'a path in a volume is relative and stays inside' });
}

/** Contents and paths count; a mode that changed alone does not. Source: upstream's rule. */
async function isDifferent(files: FilesPort, dir: string, payload: Payload, signal: AbortSignal): Promise<boolean> {
  const present = await pathsBelow(files, dir, '', signal);
  if (present.size !== payload.size) return true;
  for (const [path, { content }] of payload) {
    if (!present.has(path)) return true;
    const bytes = await files.read(`${dir}/${path}`, signal);
    if (bytes === undefined || !Buffer.from(content).equals(bytes)) return true;
  }
  return false;
}

async function pathsBelow(files: FilesPort, dir: string, prefix: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { name, kind } of await files.list(`${dir}/${prefix}`, signal)) {
    const path = prefix + name;
    if (kind === 'directory') for (const below of await pathsBelow(files, dir, `${path}/`, signal)) found.add(below);
    else found.add(path);
  }
  return found;
}

async function writeFiles(files: FilesPort, dir: string, payload: Payload, signal: AbortSignal): Promise<void> {
  await files.ensureDirectory(dir, 0o755, signal);
  for (const [path, { content, mode, userId }] of payload) {
    const slash = path.lastIndexOf('/');
    if (slash > 0) await files.ensureDirectory(`${dir}/${path.slice(0, slash)}`, 0o755, signal);
    await files.write(`${dir}/${path}`, content, mode, signal);
    if (userId !== undefined) await files.changeOwner(`${dir}/${path}`, userId, -1, signal);
  }
}

/** One link for each top-level name. */
async function showFiles(files: FilesPort, dir: string, payload: Payload, signal: AbortSignal): Promise<void> {
  for (const name of topLevel(payload)) {
    const target = `${DATA}/${name}`;
    if ((await files.readLink(`${dir}/${name}`, signal)) !== target) await files.link(target, `${dir}/${name}`, signal);
  }
}

/** Links to what is no longer in the payload, older folders, and what a crash left behind. */
async function removeStale(files: FilesPort, dir: string, current: string, payload: Payload, signal: AbortSignal): Promise<void> {
  const kept = new Set([DATA, current, ...topLevel(payload)]);
  for (const { name, kind } of await files.list(dir, signal)) {
    // A folder without dots is a mount point of another volume.
    if (!kept.has(name) && (kind === 'symlink' || name.startsWith('..'))) await files.removeTree(`${dir}/${name}`, signal);
  }
}

function topLevel(payload: Payload): ReadonlySet<string> {
  return new Set([...payload.keys()].map((path) => path.split('/')[0] ?? path));
}

/** `2026_01_02_15_04_05.1234567890` */
function timestamp({ clock, random }: AtomicWriter): string {
  const time = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-T:]/g, '_');
  return `${time}.${Math.floor(random() * 1e10)
    .toString()
    .padStart(10, '0')}`;
}
