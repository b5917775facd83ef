interface Heartbeat {
  readonly signs: Readonly<Record<string, string>>;
  readonly atMs: number;
  readonly isSilentSinceFirstSeen: boolean;
}

/** When each node last gave a sign of life, by our own clock: the nodes' clocks may be wrong. */
export class Heartbeats {
  readonly #nodes = new Map<string, Heartbeat>();

  /** @param sign a time that the node wrote; only that it changed counts. @param source which of its times */
  see(node: string, source: 'status' | 'lease', sign: string | undefined, nowMs: number): void {
    const known = this.#nodes.get(node);
    if (known === undefined) this.#nodes.set(node, { signs: { [source]: sign ?? '' }, atMs: nowMs, isSilentSinceFirstSeen: sign === undefined });
    else if (sign !== undefined && known.signs[source] !== sign) {
      this.#nodes.set(node, { signs: { ...known.signs, [source]: sign }, atMs: nowMs, isSilentSinceFirstSeen: false });
    }
  }

  forget(node: string): void {
    this.#nodes.delete(node);
  }

  /** How much longer the node may be silent; 0: too long. @param startupGraceMs for a node that never gave a sign */
  leftMs(node: string, graceMs: number, startupGraceMs: number, nowMs: number): number {
    const known = this.#nodes.get(node);
    if (known === undefined) return startupGraceMs;
    return Math.max(0, known.atMs + (known.isSilentSinceFirstSeen ? startupGraceMs : graceMs) - nowMs);
  }
}
