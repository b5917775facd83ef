import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Labels<L extends string> = Readonly<Record<L, string>>;

/** One number of a metric that is read when somebody looks. */
export type Reading<L extends string> = readonly [labels: Labels<L>, value: number];

export function counter<L extends string = never>(registry: Registry, name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/** @param buckets upper ends, rising */
export function histogram<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  buckets: readonly number[] = defaultBuckets,
): Histogram<L> {
  return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] });
}

/** A metric whose numbers cost nothing until somebody looks. What is not read, or cannot be, has no line: the page's other numbers are still there. */
export function gauge<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
  read: () => Iterable<Reading<L>>,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      if (labelNames.length === 0) this.remove(); // it would show 0 although nothing was read
      for (const [labels, value] of readings(read)) this.set(labels, value);
    },
  });
}

function readings<L extends string>(read: () => Iterable<Reading<L>>): Iterable<Reading<L>> {
  try {
    return [...read()];
  } catch {
    return []; // a missing series tells of it
  }
}

/** A gauge without labels. @param read undefined: there is nothing to tell */
export function number(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  gauge(registry, name, help, [], () => {
    const value = read();
    return value === undefined ? [] : [[{}, value]];
  });
}

/** Prometheus' own. */
const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Upstream's for the start of a pod. */
export const podStartBuckets: readonly number[] = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
