/** Items in an order of their own; the first can be taken at any time. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  push(item: T): void {
    let at = this.#items.length;
    this.#items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#items[at] = parent;
      at = above;
    }
    this.#items[at] = item;
  }

  pop(): T | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return first;
  }

  /** Puts `item` where the first was, and from there to its place. */
  #sink(item: T): void {
    let at = 0;
    for (;;) {
      const below = this.#firstBelow(at);
      const child = this.#items[below];
      if (child === undefined || !this.#isBefore(child, item)) break;
      this.#items[at] = child;
      at = below;
    }
    this.#items[at] = item;
  }

  #firstBelow(at: number): number {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    return left !== undefined && right !== undefined && this.#isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}
