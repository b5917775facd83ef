import type { Clock } from '#base/clock.ts';

/** Now, as metadata has it: whole seconds, UTC. */
export function nowSeconds(clock: Clock): string {
  return timeOf(clock.now());
}

export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
