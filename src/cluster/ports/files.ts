export interface HostDirectoryEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

export interface HostFileFacts {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  /** Permission bits. */
  readonly mode: number;
}

/** Files of the host. Every call is idempotent; what is not there reads as `undefined` or as empty. */
export interface HostFiles {
  readText(path: string): Promise<string | undefined>;
  readBytes(path: string): Promise<Uint8Array | undefined>;
  /** Replaces the whole file at once: no reader ever sees half of it. Makes the folder. */
  write(path: string, content: string | Uint8Array, mode: number): Promise<void>;
  ensureDirectory(path: string, mode: number): Promise<void>;
  list(path: string): Promise<readonly HostDirectoryEntry[]>;
  exists(path: string): Promise<boolean>;
  /** Does not follow a symbolic link. */
  facts(path: string): Promise<HostFileFacts | undefined>;
  readLink(path: string): Promise<string | undefined>;
  link(target: string, path: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Never leaves the file system of `path`: what is mounted below stays, and is an error. */
  removeTree(path: string): Promise<void>;
  /** Moves the content of a log that grew beyond `maxBytes` to `<path>.1`; writers that append go on at the start of the file. */
  rotate(path: string, maxBytes: number): Promise<void>;
  /** Waits until the file, which need not be there yet, satisfies `accept`. */
  waitForText(path: string, accept: (text: string) => boolean, signal: AbortSignal): Promise<void>;
}
