import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import { histogram, number } from './families.ts';

export interface RelistMetrics {
  /** Everything in the runtime was looked at. */
  relisted(tookMs: number): void;
  /** Epoch; undefined before the first time. */
  readonly lastAtMs: () => number | undefined;
}

/**
 * Looks at everything that the runtime has, which are the net under its events: under the names of upstream's PLEG, whose every change comes
 * from such a look. What it drops when it cannot follow has no counterpart here.
 */
export function createRelistMetrics(registry: Registry, clock: Clock): RelistMetrics {
  const duration = histogram(registry, 'kubelet_pleg_relist_duration_seconds', 'Duration of a look at all pods in the runtime');
  const interval = histogram(registry, 'kubelet_pleg_relist_interval_seconds', 'Time between two looks at all pods in the runtime');
  let last: { readonly startedAt: number; readonly endedAtMs: number } | undefined;
  number(registry, 'kubelet_pleg_last_seen_seconds', 'When all pods in the runtime were last looked at, since the epoch', () =>
    last === undefined ? undefined : last.endedAtMs / 1000,
  );
  return {
    relisted(tookMs) {
      const startedAt = clock.monotonic() - tookMs;
      duration.observe(tookMs / 1000);
      if (last !== undefined) interval.observe((startedAt - last.startedAt) / 1000);
      last = { startedAt, endedAtMs: clock.now() };
    },
    lastAtMs: () => last?.endedAtMs,
  };
}
