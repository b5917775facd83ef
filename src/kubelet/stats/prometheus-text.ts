import type { Reading } from '../ports/usage.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** What is not known has no line. */
  readonly value: Reading;
  /** Absent: the time of the scrape. */
  readonly atMs?: number | undefined;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly Sample[];
}

/** Prometheus' text format, with times, which the usual library cannot print. Families without samples are left out. */
export function prometheusText(families: readonly Family[]): string {
  return families.map(familyText).join('');
}

export function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'counter', samples };
}

export function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples };
}

function familyText({ name, help, type, samples }: Family): string {
  const lines = samples.flatMap(({ labels, value, atMs }) =>
    value === undefined ? [] : [`${name}${labelText(labels)} ${value}${atMs === undefined ? '' : ` ${Math.round(atMs)}`}\n`],
  );
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (found) => escapes[found] ?? found)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
