/** Hears of changes on the node's disk. */
export interface FolderWatchPort {
  /**
   * Calls back after something in the folder, or the file itself, has changed; perhaps more than once, never with what. The result ends it.
   * A path that is replaced as a whole is watched no more: who must not miss that asks again from time to time.
   *
   * @throws {PathMissing}
   */
  watch(path: string, changed: () => void): () => void;
}
