/** What is asked of the host's own logs. Source: upstream's NodeLogQuery. */
export interface NodeLogQuery {
  readonly services: readonly string[];
  /** Below the folder of logs. */
  readonly files: readonly string[];
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly tailLines: number | undefined;
  /** 0: this boot; -1: the one before. */
  readonly boot: number | undefined;
  /** '': all lines. */
  readonly pattern: string;
}

export type ParsedQuery =
  | { readonly kind: 'none' }
  | { readonly kind: 'query'; readonly query: NodeLogQuery }
  /** Upstream's words. */
  | { readonly kind: 'wrong'; readonly problem: string };

/** @returns `none` when nothing of it is asked: then a path below the folder of logs is meant */
export function parseNodeLogQuery(given: URLSearchParams): ParsedQuery {
  const problems: string[] = [];
  const queries = given.getAll('query');
  const files = queries.filter((one) => /[/\\]/.test(one));
  const services = queries.filter((one) => !/[/\\]/.test(one) && one.trim() !== '');
  if (queries.length > 0 && files.length + services.length === 0) problems.push(invalid('query', listed(queries), 'query cannot be empty'));
  const time = (name: string): number | undefined => {
    const text = given.get(name) ?? '';
    if (text === '') return undefined;
    if (!rfc3339.test(text) || Number.isNaN(Date.parse(text))) problems.push(invalid(name, quoted(text), 'invalid time format'));
    return Date.parse(text);
  };
  const whole = (name: string): number | undefined => {
    const text = given.get(name) ?? '';
    if (text === '') return undefined;
    if (!/^[+-]?\d+$/.test(text)) problems.push(invalid(name, quoted(text), `strconv.Atoi: parsing ${quoted(text)}: invalid syntax`));
    return Number(text);
  };
  const [sinceMs, untilMs, boot, tailLines] = [time('sinceTime'), time('untilTime'), whole('boot'), whole('tailLines')];
  const query = { services, files, sinceMs, untilMs, boot, tailLines, pattern: given.get('pattern') ?? '' };
  if (problems.length > 0) return { kind: 'wrong', problem: joined(problems) };
  return files.length + services.length === 0 && !hasOptions(query) ? { kind: 'none' } : { kind: 'query', query };
}

/** @returns what is wrong with the query, in upstream's words */
export function queryProblem(query: NodeLogQuery): string | undefined {
  const { services, files, sinceMs, untilMs, boot, tailLines, pattern } = query;
  const problems = services.flatMap((service) => {
    if (service.length > 255) return [invalid('query', quoted(service), 'length must be less than 100')];
    return /^[\w@-]*$/.test(service) ? [] : [invalid('query', quoted(service), 'input contains unsupported characters')];
  });
  if (services.length > mostServices) problems.push(`query: Too many: ${services.length}: must have at most ${mostServices} items`);
  if (files.length === 0 && services.length === 0) problems.push('query: Required value: cannot be empty with options');
  else if (files.length > 0 && services.length > 0)
    problems.push(invalid('query', quoted(`[${files.join(' ')}], [${services.join(' ')}]`), 'cannot specify a file and service'));
  else if (files.length > 1) problems.push(invalid('query', listed(files), 'cannot specify more than one file'));
  else if (files.length === 1 && hasOptions(query)) problems.push(invalid('query', listed(files), 'cannot specify file with options'));
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs)
    problems.push(invalid('untilTime', quoted(new Date(untilMs).toISOString()), 'must be after `sinceTime`'));
  if (boot !== undefined && boot > 0) problems.push(invalid('boot', String(boot), 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > mostLines))
    problems.push(invalid('tailLines', String(tailLines), `must be between 0 and ${mostLines}, inclusive`));
  if (!isPattern(pattern)) problems.push(invalid('pattern', quoted(pattern), 'error parsing regexp'));
  return problems.length === 0 ? undefined : joined(problems);
}

export function hasOptions({ sinceMs, untilMs, boot, tailLines, pattern }: NodeLogQuery): boolean {
  return sinceMs !== undefined || untilMs !== undefined || boot !== undefined || tailLines !== undefined || pattern !== '';
}

/** Arguments of `journalctl` for these services. */
export function journalArguments({ sinceMs, untilMs, tailLines, boot, pattern }: NodeLogQuery, services: readonly string[]): readonly string[] {
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(sinceMs === undefined ? [] : [`--since=${journalTime(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`--until=${journalTime(untilMs)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === '' ? [] : [`--grep=${pattern}`, '--case-sensitive=false']),
    ...(boot === undefined ? [] : ['--boot', String(boot)]),
  ];
}

const mostServices = 4;
const mostLines = 100_000;
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** In UTC, as `--utc` says. */
function journalTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function invalid(field: string, value: string, problem: string): string {
  return `${field}: Invalid value: ${value}: ${problem}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function listed(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(',')}]`;
}

function joined(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
}
