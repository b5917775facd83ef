import { type Observation, type Observations, type PressureType, type Signal, signals } from './signals.ts';
import { amountOf, type Threshold } from './thresholds.ts';

/** What one look at the node leaves for the next. */
export interface EvictionState {
  /** Those that hold for as long as they must. */
  readonly met: readonly Threshold[];
  /** By `keyOf`. */
  readonly firstMetAtMs: ReadonlyMap<string, number>;
  readonly pressureSeenAtMs: ReadonlyMap<PressureType, number>;
  readonly observations: Observations;
}

export const nothingSeen: EvictionState = { met: [], firstMetAtMs: new Map(), pressureSeenAtMs: new Map(), observations: new Map() };

export interface Verdict {
  readonly state: EvictionState;
  readonly pressures: readonly PressureType[];
  /** What has to be done something about now, the most pressing first: memory, which kills others, before what fills slowly. */
  readonly toReclaim: readonly Threshold[];
}

/** One look at the node; pure. */
export function judge(
  thresholds: readonly Threshold[],
  observations: Observations,
  before: EvictionState,
  nowMs: number,
  transitionMs: number,
): Verdict {
  const fresh = thresholds.filter((threshold) => isMet(threshold, observations, false));
  const unresolved = before.met.filter((threshold) => isMet(threshold, observations, true) && !fresh.some((one) => keyOf(one) === keyOf(threshold)));
  const seen = [...fresh, ...unresolved];
  const firstMetAtMs = new Map(seen.map((threshold) => [keyOf(threshold), before.firstMetAtMs.get(keyOf(threshold)) ?? nowMs]));
  const pressureSeenAtMs = new Map(before.pressureSeenAtMs);
  for (const { signal } of seen) pressureSeenAtMs.set(signals[signal].pressure, nowMs);
  const isStill = (type: PressureType) => nowMs - (pressureSeenAtMs.get(type) ?? Number.NEGATIVE_INFINITY) < transitionMs;
  const isSeenNow = (type: PressureType) => seen.some(({ signal }) => signals[signal].pressure === type);
  const met = seen.filter((threshold) => nowMs - (firstMetAtMs.get(keyOf(threshold)) ?? nowMs) >= threshold.graceMs);
  const toReclaim = met.filter(({ signal }) => isNewer(observations.get(signal), before.observations.get(signal)));
  return {
    state: { met, firstMetAtMs, pressureSeenAtMs, observations },
    pressures: pressureTypes.filter((type) => isSeenNow(type) || isStill(type)),
    toReclaim: [...toReclaim].sort((a, b) => Number(isOfMemory(b.signal)) - Number(isOfMemory(a.signal))),
  };
}

/** @param withReclaim asks for the minimum reclaim on top */
export function isMet({ signal, value, minReclaim }: Threshold, observations: Observations, withReclaim: boolean): boolean {
  const observed = observations.get(signal);
  if (observed === undefined) return false;
  const { available, capacity } = observed;
  const extra = withReclaim && minReclaim !== undefined ? amountOf(minReclaim, capacity) : 0;
  return available < amountOf(value, capacity) + extra;
}

const pressureTypes: readonly PressureType[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** A signal has at most one hard and one soft threshold. */
function keyOf({ signal, isHard }: Threshold): string {
  return `${signal} ${isHard}`;
}

function isOfMemory(signal: Signal): boolean {
  return signals[signal].resource === 'memory';
}

/** Nobody is put out twice for one reading. */
function isNewer(observed: Observation | undefined, before: Observation | undefined): boolean {
  return observed !== undefined && (before === undefined || observed.atMs > before.atMs);
}
