import { quote } from '#api/quote.ts';
import { answerText } from '../request/encode.ts';
import type { PathEndpoint, PathRequest } from '../request/path-routes.ts';
import type { ApiResponse } from '../request/route.ts';

export interface HealthCheck {
  readonly name: string;
  isHealthy(): boolean;
}

/** `/healthz`, `/livez`, `/readyz` and each check below them. */
export function healthEndpoints(live: readonly HealthCheck[], ready: readonly HealthCheck[]): readonly PathEndpoint[] {
  return [endpoint('healthz', live), endpoint('livez', live), endpoint('readyz', [...live, ...ready])];
}

function endpoint(name: string, checks: readonly HealthCheck[]): PathEndpoint {
  const one = (path: string) => checks.find((check) => path === `/${name}/${check.name}`);
  return {
    matches: (path) => path === `/${name}` || one(path) !== undefined,
    answer: async (request) => {
      const check = one(request.info.path);
      if (check === undefined) return answerChecks(name, checks, request);
      return check.isHealthy() ? answerText(200, 'ok') : answerText(500, `internal server error: ${check.name} is not healthy\n`);
    },
  };
}

function answerChecks(name: string, checks: readonly HealthCheck[], { query }: PathRequest): ApiResponse {
  const excluded = query.getAll('exclude');
  const results = checks.map((check) => ({ name: check.name, isExcluded: excluded.includes(check.name), isHealthy: check.isHealthy() }));
  const isHealthy = results.every((result) => result.isHealthy || result.isExcluded);
  if (isHealthy && !query.has('verbose')) return answerText(200, 'ok');
  const lines = results.map((result) => {
    if (result.isExcluded) return `[+]${result.name} excluded: ok`;
    return result.isHealthy ? `[+]${result.name} ok` : `[-]${result.name} failed: reason withheld`;
  });
  const unknown = [...new Set(excluded)].filter((excludedName) => !checks.some((check) => check.name === excludedName)).sort();
  const warning = unknown.length === 0 ? [] : [`warn: some health checks cannot be excluded: no matches for ${unknown.map(quote).join(',')}`];
  return answerText(isHealthy ? 200 : 500, [...lines, ...warning, `${name} check ${isHealthy ? 'passed' : 'failed'}`, ''].join('\n'));
}
