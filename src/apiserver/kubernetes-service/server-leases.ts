import { AppError, NotFound } from '#base/errors.ts';
import type { Storage } from '#store/storage.ts';
import { storageRoot } from '../registry/kind-storage.ts';

const prefix = `${storageRoot}masterleases/`;
/** Upstream's. A server that dies is forgotten after that time. */
const ttlSeconds = 15;

/** Which API servers of a store are alive, by the addresses that they can be reached at: each holds a key that goes with its lease. */
export class ServerLeases {
  readonly #storage: Storage;
  readonly #address: string;
  #leaseId: number | undefined;

  constructor(storage: Storage, address: string) {
    this.#storage = storage;
    this.#address = address;
  }

  /** Says that this server lives. @returns the addresses of all that do, sorted */
  async renew(signal: AbortSignal): Promise<readonly string[]> {
    if (!(await this.#isKeptAlive(signal))) await this.#take(signal);
    const { entries } = await this.#storage.range(prefix, { revision: 0, limit: 0, after: '' }, signal);
    return entries.map(({ key }) => key.slice(prefix.length)).sort();
  }

  /** Tells when a server came or went, until the signal. What it misses after a failure the next `renew` finds. */
  async follow(onChange: () => void, signal: AbortSignal): Promise<void> {
    try {
      for await (const _ of this.#storage.watch(prefix, 0, signal)) onChange();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  /** The server ends. */
  async release(signal: AbortSignal): Promise<void> {
    if (this.#leaseId !== undefined) await this.#storage.revokeLease(this.#leaseId, signal);
    this.#leaseId = undefined;
  }

  async #isKeptAlive(signal: AbortSignal): Promise<boolean> {
    if (this.#leaseId === undefined) return false;
    try {
      await this.#storage.keepLeaseAlive(this.#leaseId, signal);
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false; // the process was stopped for a while
      throw error;
    }
  }

  /** An earlier run of this server may have left its key: it becomes this one's. */
  async #take(signal: AbortSignal): Promise<void> {
    const key = `${prefix}${this.#address}`;
    const leaseId = await this.#storage.grantLease(ttlSeconds, signal);
    this.#leaseId = leaseId;
    for (let expectedRevision = (await this.#storage.get(key, signal))?.modRevision ?? 0; ; ) {
      const result = await this.#storage.commit({ key, expectedRevision, value: Buffer.from('{}'), leaseId }, signal);
      if (result.kind === 'committed') return;
      expectedRevision = result.current?.modRevision ?? 0;
    }
  }
}
