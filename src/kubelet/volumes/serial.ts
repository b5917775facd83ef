/** Runs works one after the other, in the order in which they were given. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined); // its caller has the failure; the next work does not care
    return next;
  }
}
