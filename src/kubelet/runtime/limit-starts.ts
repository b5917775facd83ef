import { onAbort, reasonOf } from '#base/abort.ts';
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
export function limitStarts(runtime: RuntimePort, atOnce: number): RuntimePort {
  const turns = new Turns(atOnce);
  return new Proxy(runtime, {
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
}

class Turns {
  #free: number;
  readonly #waiting: Readonly<Record<Stage, Set<() => void>>> = { startContainer: new Set(), createContainer: new Set(), runPodSandbox: new Set() };

  constructor(atOnce: number) {
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
  }

  #next(): void {
    if (this.#free <= 0) return;
    for (const stage of stages) {
      const [first] = this.#waiting[stage];
      if (first === undefined) continue;
      this.#waiting[stage].delete(first);
      this.#free -= 1;
      first();
      return;
    }
  }
}
