import type { Clock, Timer } from '#base/clock.ts';
import type { LeaseRow } from './revision-log.ts';

interface RunningLease {
  readonly ttlMs: number;
  readonly timer: Timer;
}

/** The leases that are alive and when each of them ends. */
export class LeaseTimers {
  readonly #clock: Clock;
  readonly #onEnd: (leaseId: number) => void;
  readonly #running = new Map<number, RunningLease>();

  /** @param onEnd called after the lease was taken off the list, so that nobody can put a key under it any more */
  constructor(clock: Clock, onEnd: (leaseId: number) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  start(lease: LeaseRow): void {
    this.#arm(lease.leaseId, lease.ttlSeconds * 1000);
  }

  /** Starts the lease's time again; false when it has ended. */
  restart(leaseId: number): boolean {
    const lease = this.#running.get(leaseId);
    if (lease === undefined) return false;
    lease.timer.cancel();
    this.#arm(leaseId, lease.ttlMs);
    return true;
  }

  isAlive(leaseId: number): boolean {
    return this.#running.has(leaseId);
  }

  /** Takes the lease off the list without `onEnd`. */
  stop(leaseId: number): void {
    this.#running.get(leaseId)?.timer.cancel();
    this.#running.delete(leaseId);
  }

  stopAll(): void {
    for (const leaseId of [...this.#running.keys()]) this.stop(leaseId);
  }

  #arm(leaseId: number, ttlMs: number): void {
    const timer = this.#clock.after(ttlMs, () => {
      this.stop(leaseId);
      this.#onEnd(leaseId);
    });
    this.#running.set(leaseId, { ttlMs, timer });
  }
}
