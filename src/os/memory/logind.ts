import { Channel } from '#base/channel.ts';
import { Unavailable } from '#base/errors.ts';
import type { LogindPort, LogindSession } from '#kubelet/ports/logind.ts';

/** A login manager in memory, and what its host does. */
export class MemoryLogind implements LogindPort {
  delayMs = 5000;
  /** What a reload makes of the delay. */
  delayAfterReloadMs: number | undefined;
  isReachable = true;
  locks = 0;
  readonly #announced = new Set<Channel<boolean>>();

  async connect(): Promise<LogindSession> {
    if (!this.isReachable) throw new Unavailable({ message: 'there is no bus' });
    const announced = new Channel<boolean>();
    this.#announced.add(announced);
    return {
      inhibitDelayMs: async () => this.delayMs,
      reload: async () => {
        this.delayMs = this.delayAfterReloadMs ?? this.delayMs;
      },
      inhibit: async () => {
        this.locks += 1;
        let isHeld = true;
        return () => {
          if (isHeld) this.locks -= 1;
          isHeld = false;
        };
      },
      announcements: (signal) => announced.take(signal),
      close: () => {
        this.#announced.delete(announced);
        announced.close();
      },
    };
  }

  announce(isShuttingDown: boolean): void {
    for (const announced of this.#announced) announced.push(isShuttingDown);
  }

  /** Every connection is lost. */
  drop(): void {
    for (const announced of this.#announced) announced.close();
    this.#announced.clear();
  }
}
