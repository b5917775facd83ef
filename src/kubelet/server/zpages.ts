import type { HttpResponse } from '#wire/http/server.ts';
import { jsonAnswer, textAnswer } from './answer.ts';

/** A page that people read as text and programs, who must say so word for word, as an object. */
export interface ZPage {
  readonly kind: 'Statusz' | 'Flagz';
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ProcessFacts {
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** `v1.36.0` */
  readonly version: string;
  readonly paths: readonly string[];
}

/** `/statusz` */
export function statusPage({ startedAtMs, nowMs, version, paths }: ProcessFacts): ZPage {
  const uptimeSeconds = Math.floor((nowMs - startedAtMs) / 1000);
  const [hours, minutes, rest] = [Math.floor(uptimeSeconds / 3600), Math.floor((uptimeSeconds % 3600) / 60), uptimeSeconds % 60];
  const binaryVersion = version.replace(/^v/, '');
  const emulationVersion = binaryVersion.split('.').slice(0, 2).join('.');
  const sorted = [...paths].sort();
  return {
    kind: 'Statusz',
    lines: [
      `Started: ${new Date(startedAtMs).toUTCString()}`,
      `Up: ${hours} hr ${twoDigits(minutes)} min ${twoDigits(rest)} sec`,
      `Binary version: ${binaryVersion}`,
      `Emulation version: ${emulationVersion}`,
      `Paths: ${sorted.join(' ')}`,
    ],
    fields: {
      startTime: new Date(startedAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
      uptimeSeconds,
      binaryVersion,
      emulationVersion,
      paths: sorted,
    },
  };
}

/** `/flagz` @param flags by name, without dashes */
export function flagsPage(flags: Readonly<Partial<Record<string, string>>>): ZPage {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  return { kind: 'Flagz', lines: sorted.map(([name, value]) => `${name}=${value ?? ''}`), fields: { flags: Object.fromEntries(sorted) } };
}

/** @param accept as sent; absent: whatever there is */
export function zPageAnswer({ kind, lines, fields }: ZPage, accept: string | undefined): HttpResponse {
  for (const wanted of (accept ?? '*/*').split(',')) {
    const [type = '', ...parameters] = wanted.split(';').map((part) => part.trim());
    const version = structuredVersion(kind, type, parameters);
    if (version !== undefined) return jsonAnswer({ kind, apiVersion: `${group}/${version}`, metadata: { name: 'kubelet' }, ...fields });
    if (texts.has(type)) return textAnswer(200, `\nkubelet ${kind.toLowerCase()}\n${warning}\n\n${lines.join('\n')}\n`);
  }
  return textAnswer(406, 'only the following media types are accepted: application/json, text/plain\n');
}

/** @returns undefined unless group, version and kind are all named */
function structuredVersion(kind: ZPage['kind'], type: string, parameters: readonly string[]): string | undefined {
  if (type !== 'application/json' || !parameters.includes(`g=${group}`) || !parameters.includes(`as=${kind}`)) return undefined;
  return versions.find((version) => parameters.includes(`v=${version}`));
}

const group = 'config.k8s.io';
const versions = ['v1beta1', 'v1alpha1'];
const texts: ReadonlySet<string> = new Set(['text/plain', 'text/*', '*/*', '']);

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
