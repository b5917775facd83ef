import { messageOf } from '#base/errors.ts';
import type { HttpResponse } from '#wire/http/server.ts';
import { textAnswer } from './answer.ts';

/** Throws what is wrong. */
export type HealthCheck = () => void | Promise<void>;

/** `/healthz` and the checks below it. @param check one of them, '' for all */
export async function healthAnswer(checks: ReadonlyMap<string, HealthCheck>, check: string, query: URLSearchParams): Promise<HttpResponse> {
  if (check !== '') {
    const one = checks.get(check);
    if (one === undefined) return textAnswer(404, '404: Page Not Found');
    const problem = await problemOf(one);
    return problem === undefined ? textAnswer(200, 'ok') : textAnswer(500, `internal server error: ${problem}\n`);
  }
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  let hasFailed = false;
  for (const [name, run] of checks) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = await problemOf(run);
    hasFailed ||= problem !== undefined;
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  if (excluded.size > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${[...excluded].map((name) => `"${name}"`).join(', ')}`);
  if (hasFailed) return textAnswer(500, `${lines.join('\n')}\nhealthz check failed\n`);
  return textAnswer(200, query.has('verbose') ? `${lines.join('\n')}\nhealthz check passed\n` : 'ok');
}

async function problemOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
