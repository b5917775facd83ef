import { onAbort, reasonOf } from '#base/abort.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { RuntimePort } from '../ports/runtime.ts';

/** Later stages first: a pod that has begun is brought to its end before another begins. */
const stages = ['startContainer', 'createContainer', 'runPodSandbox'] as const;
type Stage = (typeof stages)[number];

/**
 * The same runtime; of the calls that make processes only so many are under way at once, the others wait their turn.
 *
 * A runtime that is asked for everything at once is slower in all, and the first pod is ready when the last is. What stops things is never
 * held up: it may wait for a grace period, and it makes room.
 */
export function limitStarts(runtime: RuntimePort, atOnce: number): LimitedStarts {
  const turns = new Turns(atOnce);
  const limited = new Proxy(runtime, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      const stage = stages.find((one) => one === property);
      if (stage === undefined) return member.bind(target);
      return async (...args: readonly unknown[]) => {
        const signal = args.at(-1) as AbortSignal; // every call of the port ends with it
        await turns.take(stage, signal);
        try {
          return await Reflect.apply(member, target, args);
        } finally {
          turns.giveBack();
        }
      };
    },
  });
  return { runtime: limited, busy: turns.busy };
}

export interface LimitedStarts {
  readonly runtime: RuntimePort;
  /** Something starts or waits for its turn. */
  readonly busy: Watchable<boolean>;
}

class Turns {
  readonly busy = new Cell(false);
  readonly #atOnce: number;
  #free: number;
  readonly #waiting: Readonly<Record<Stage, Set<() => void>>> = { startContainer: new Set(), createContainer: new Set(), runPodSandbox: new Set() };

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#free = atOnce;
  }

  async take(stage: Stage, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        forget();
        resolve();
      };
      let forget: () => void = () => undefined;
      this.#waiting[stage].add(begin);
      forget = onAbort(signal, () => {
        if (this.#waiting[stage].delete(begin)) reject(reasonOf(signal));
      });
      this.#next();
    });
  }

  giveBack(): void {
    this.#free += 1;
    this.#next();
    this.busy.set(this.#free < this.#atOnce);
  }

  #next(): void {
    if (this.#free <= 0) return;
    for (const stage of stages) {
      const [first] = this.#waiting[stage];
      if (first === undefined) continue;
      this.#waiting[stage].delete(first);
      this.#free -= 1;
      this.busy.set(true);
      first();
      return;
    }
  }
}
