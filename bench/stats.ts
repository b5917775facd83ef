/** Milliseconds, rounded to hundredths. */
export interface Figures {
  readonly median: number;
  readonly p99: number;
}

export interface Comparison {
  readonly pairs: number;
  readonly floorMs: Figures;
  readonly oursMs: Figures;
  /** Like to like: median over median, p99 over p99. */
  readonly ratio: Figures;
}

export function figuresOf(samples: readonly number[]): Figures {
  return { median: round(quantile(samples, 0.5)), p99: round(quantile(samples, 0.99)) };
}

export function compare(floor: readonly number[], ours: readonly number[]): Comparison {
  const floorMs = figuresOf(floor);
  const oursMs = figuresOf(ours);
  const ratio = { median: round(oursMs.median / floorMs.median), p99: round(oursMs.p99 / floorMs.p99) };
  return { pairs: Math.min(floor.length, ours.length), floorMs, oursMs, ratio };
}

/** Nearest rank: of 100 samples the p99 is the second largest. */
function quantile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))] ?? Number.NaN;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
