import type { Kind } from '#api/kind.ts';
import type { Clock } from '#base/clock.ts';
import type { Storage } from '#store/storage.ts';

const eventTtlSeconds = 3_600;
/** Writes within this time share a lease, so that a busy cluster does not make one an event. */
const shareMs = 60_000;
const maxSharers = 1_000;

/** Events go by themselves: the store ends them with their lease. */
export class ExpiringLeases {
  readonly #storage: Storage;
  readonly #clock: Clock;
  #current: { readonly leaseId: Promise<number>; readonly grantedAtMs: number; sharers: number } | undefined;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** @returns 0 for a kind whose objects stay */
  async leaseFor(kind: Kind, signal: AbortSignal): Promise<number> {
    if (kind.storagePrefix !== 'events') return 0;
    const known = this.#current;
    if (known !== undefined && known.sharers < maxSharers && this.#clock.monotonic() - known.grantedAtMs < shareMs) {
      known.sharers++;
      return known.leaseId;
    }
    const leaseId = this.#storage.grantLease(eventTtlSeconds, signal);
    this.#current = { leaseId, grantedAtMs: this.#clock.monotonic(), sharers: 1 };
    leaseId.catch(() => {
      this.#current = undefined;
    });
    return leaseId;
  }
}
