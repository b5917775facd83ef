export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'symlink' | 'socket' | 'block' | 'char' | 'fifo';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileFacts['kind'];
}

/** Files on the node. Every call is idempotent; what is not there reads as `undefined` or as empty. */
export interface FilesPort {
  /** Makes the directory and its parents; the mode (umask does not matter) is given to the last one, also when it exists. */
  ensureDirectory(path: string, mode: number, signal: AbortSignal): Promise<void>;
  read(path: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** The last `maxBytes` of a file at most, however long it is. */
  readEnd(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /**
   * Reads a file of a folder that others may write to: links are followed inside `root` only, as `MounterPort.bindBelow` does.
   *
   * @returns `undefined` when it is not there or no regular file
   * @throws {PathEscapes} when it leads out of `root`
   */
  readBelow(root: string, relative: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Replaces the whole file at once: no reader ever sees half of it. */
  write(path: string, content: Uint8Array | string, mode: number, signal: AbortSignal): Promise<void>;
  /** Makes `to` a gzip copy of `from`, whole or not at all. Neither of them has to fit into memory. */
  compress(from: string, to: string, mode: number, signal: AbortSignal): Promise<void>;
  list(path: string, signal: AbortSignal): Promise<readonly DirectoryEntry[]>;
  /** Does not follow a symbolic link. */
  stat(path: string, signal: AbortSignal): Promise<FileFacts | undefined>;
  readLink(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Replaces a link that is there, atomically. */
  link(target: string, path: string, signal: AbortSignal): Promise<void>;
  rename(from: string, to: string, signal: AbortSignal): Promise<void>;
  changeOwner(path: string, uid: number, gid: number, signal: AbortSignal): Promise<void>;
  changeMode(path: string, mode: number, signal: AbortSignal): Promise<void>;
  /** Removes a tree without following links. @throws {MountBelow} and removes nothing when something is mounted at or below it */
  removeTree(path: string, signal: AbortSignal): Promise<void>;
}
