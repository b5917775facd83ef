import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { HttpResponse } from '#wire/http/server.ts';
import { counter } from '../metrics/families.ts';
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

/** Upstream's. */
const loopPatienceMs = 5 * 60_000;

/**
 * Fails when the runtime could not be looked at for so long that nothing on the node can be believed to be kept up.
 *
 * @param lastTurnAtMs epoch; undefined before the first turn, when there is nothing to fail
 */
export function syncLoopCheck(
  lastTurnAtMs: () => number | undefined,
  { syncMs, relistMs }: { readonly syncMs: number; readonly relistMs: number },
  clock: Pick<Clock, 'now'>,
): HealthCheck {
  const patienceMs = Math.max(2 * syncMs, 2 * relistMs, loopPatienceMs);
  return () => {
    const atMs = lastTurnAtMs();
    if (atMs !== undefined && clock.now() > atMs + patienceMs) throw new Error('sync Loop took longer than expected');
  };
}

/** The same checks; `/metrics/slis` shows how they go. */
export function withHealthMetrics(checks: ReadonlyMap<string, HealthCheck>, registry: Registry): ReadonlyMap<string, HealthCheck> {
  const labelNames = ['name', 'type'] as const;
  const last = new Gauge({ name: 'kubernetes_healthcheck', help: 'The last result of a check of health', labelNames, registers: [registry] });
  const total = counter(registry, 'kubernetes_healthchecks_total', 'Results of checks of health', [...labelNames, 'status']);
  const told = (name: string, isFine: boolean): void => {
    const labels = { name, type: 'healthz' };
    last.set(labels, isFine ? 1 : 0);
    total.inc({ ...labels, status: isFine ? 'success' : 'error' });
  };
  const counted = (name: string, check: HealthCheck): HealthCheck => {
    return async () => {
      try {
        await check();
      } catch (error) {
        told(name, false);
        throw error;
      }
      told(name, true);
    };
  };
  return new Map([...checks].map(([name, check]) => [name, counted(name, check)]));
}

async function problemOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
