/** Log files that the runtime writes. */
export interface LogFilesPort {
  /** Follows symbolic links. @returns undefined when there is no such file */
  open(path: string, signal: AbortSignal): Promise<LogFile | undefined>;
  /**
   * Tells at once when the file of that name was written to, or replaced (made, moved, removed). May tell too often; a directory that is
   * not there tells nothing.
   *
   * @returns ends the watch; may be called twice
   */
  watch(path: string, listener: (what: 'written' | 'replaced') => void): () => void;
}

/** A file that is open: stays the same one when the name gets another file. Its opener closes it. */
export interface LogFile {
  /** Two opens of one file have the same identity. */
  readonly identity: string;
  sizeBytes(): Promise<number>;
  /** @returns at most `maxBytes` from there, none at the end of the file */
  read(offsetBytes: number, maxBytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
