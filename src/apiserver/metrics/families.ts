/** One number of a metric, with its labels. */
export interface Sample {
  /** Absent: the family's own name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All numbers of one metric. They are kept as plain numbers: the library that prints them is loaded when somebody first asks. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): readonly Sample[];
}

/** A number a set of labels, which goes up; a gauge may go down too. */
export class NumberFamily implements Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly #labelNames: readonly string[];
  readonly #values = new Map<string, { readonly labels: readonly string[]; value: number }>();

  constructor(type: 'counter' | 'gauge', name: string, help: string, labelNames: readonly string[]) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
  }

  /** @param labels their values, in the order of their names */
  add(labels: readonly string[], by = 1): void {
    const key = labels.join('\0');
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, { labels, value: by });
    else known.value += by;
  }

  samples(): readonly Sample[] {
    return [...this.#values.values()].map(({ labels, value }) => ({ labels: named(this.#labelNames, labels), value }));
  }
}

export class HistogramFamily implements Family {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #labelNames: readonly string[];
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, { readonly labels: readonly string[]; readonly counts: number[]; sum: number; count: number }>();

  /** @param buckets upper bounds, rising */
  constructor(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    this.#buckets = buckets;
  }

  observe(labels: readonly string[], value: number): void {
    const key = labels.join('\0');
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, counts: this.#buckets.map(() => 0), sum: 0, count: 0 };
      this.#series.set(key, series);
    }
    const bucket = this.#buckets.findIndex((bound) => value <= bound);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
    series.count++;
  }

  samples(): readonly Sample[] {
    return [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => {
      const own = named(this.#labelNames, labels);
      let below = 0;
      const buckets = this.#buckets.map((bound, position) => {
        below += counts[position] ?? 0;
        return { metricName: `${this.name}_bucket`, labels: { ...own, le: String(bound) }, value: below };
      });
      return [
        ...buckets,
        { metricName: `${this.name}_bucket`, labels: { ...own, le: '+Inf' }, value: count },
        { metricName: `${this.name}_sum`, labels: own, value: sum },
        { metricName: `${this.name}_count`, labels: own, value: count },
      ];
    });
  }
}

/** A metric whose numbers are read off when they are asked for. */
export function readGauge(name: string, help: string, read: () => readonly Omit<Sample, 'metricName'>[]): Family {
  return { name, help, type: 'gauge', samples: read };
}

/** The same numbers under another name. */
export function renamed(family: Family, name: string): Family {
  const inOtherName = (metricName: string) => metricName.replace(family.name, name);
  return {
    name,
    help: family.help,
    type: family.type,
    samples: () =>
      family.samples().map(({ metricName, ...sample }) => (metricName === undefined ? sample : { metricName: inOtherName(metricName), ...sample })),
  };
}

function named(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, position) => [name, values[position] ?? '']));
}
