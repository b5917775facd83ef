import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '#base/clock.ts';
import type { RuntimeCall } from '#startup/transition.ts';
import type { RuntimePort } from '../ports/runtime.ts';

interface Collector {
  open: boolean;
  readonly calls: RuntimeCall[];
}

const current = new AsyncLocalStorage<Collector>();

/** Runs `work`; `calls` gets every runtime call that it makes until it ends (what it leaves running belongs to nobody). */
export async function collectingCalls<T>(calls: RuntimeCall[], work: () => Promise<T>): Promise<T> {
  const collector: Collector = { open: true, calls };
  try {
    return await current.run(collector, work);
  } finally {
    collector.open = false;
  }
}

/** The same runtime; its calls are noted with the step that makes them. */
export function withCallTimes(runtime: RuntimePort, clock: Clock): RuntimePort {
  return new Proxy(runtime, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      if (property === 'events') return member.bind(target);
      return async (...args: readonly unknown[]) => {
        const collector = current.getStore();
        const startedAtMs = clock.now();
        const startedAt = clock.monotonic();
        try {
          return await Reflect.apply(member, target, args);
        } finally {
          if (collector?.open === true) collector.calls.push({ name: criName(String(property)), startedAtMs, tookMs: clock.monotonic() - startedAt });
        }
      };
    },
  });
}

/** The port spells its calls as TypeScript does, people know them as CRI does. */
function criName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}
