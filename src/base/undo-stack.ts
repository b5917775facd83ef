interface Undo {
  readonly what: string;
  readonly action: () => Promise<void> | void;
}

/**
 * Owns work that is half done: leaving its scope undoes, newest first, unless `commit` was called.
 *
 * Every undo runs even if an earlier one failed; the failures come out together.
 */
export class UndoStack {
  #undos: Undo[] = [];

  push(what: string, action: () => Promise<void> | void): void {
    this.#undos.push({ what, action });
  }

  /** From here on the caller owns all that was pushed. */
  commit(): void {
    this.#undos = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: Error[] = [];
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      try {
        await undo.action();
      } catch (cause) {
        failures.push(new Error(`undo of ${undo.what}`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map((failure) => failure.message).join('; '));
  }
}
