import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import type { LogFields, Logger } from '#base/log.ts';
import { everyKind } from '../support/every-kind.ts';

const requests = 2000;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const oddValues: readonly unknown[] = [
  null,
  '',
  'x',
  -1,
  0,
  1e300,
  true,
  [],
  {},
  [null],
  [[]],
  { a: null },
  '\u0000',
  '../..',
  'é'.repeat(300),
  { constructor: 1 },
];
const queries = [
  '',
  '?dryRun=All&fieldManager=f',
  '?fieldValidation=Strict',
  '?limit=-1',
  '?labelSelector=a%20in',
  '?fieldSelector=x%3Dy',
  '?resourceVersion=abc',
];
const moreQueries = ['?continue=e30', '?fieldManager=f&force=true', '?gracePeriodSeconds=-5', '?dryRun=No'];

/** The same numbers every time. Source: mulberry32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 1_000_000) % below;
  };
}

type Random = ReturnType<typeof randomFrom>;
const oneOf = <T>(random: Random, all: readonly T[]): T => all[random(all.length)] as T; // never empty here

/** A copy in which one to three values are something else. */
function mutated(random: Random, value: unknown): unknown {
  const copy = structuredClone({ root: value }) as Record<string, unknown>;
  for (let left = 1 + random(3); left > 0; left--) {
    let at: Record<string, unknown> = copy;
    let key = 'root';
    for (let depth = random(7); depth > 0; depth--) {
      const inside = at[key];
      const keys = typeof inside === 'object' && inside !== null ? Object.keys(inside) : [];
      if (keys.length === 0) break;
      at = inside as Record<string, unknown>; // has keys
      key = oneOf(random, keys);
    }
    at[key] = structuredClone(oneOf(random, oddValues));
  }
  return copy['root'];
}

function urlOf(random: Random, kind: Kind, name: string): string {
  const base = kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`;
  const scope = kind.scope === 'Namespaced' && random(10) > 0 ? '/namespaces/default' : '';
  const subresource = random(4) === 0 && kind.subresources.length > 0 ? `/${oneOf(random, kind.subresources)}` : '';
  return `${base}${scope}/${kind.plural}${random(3) === 0 ? '' : `/${name}${subresource}`}${oneOf(random, [...queries, ...moreQueries])}`;
}

test('whatever is sent, nothing in the server fails unforeseen, and it lives', async () => {
  const failures: LogFields[] = [];
  const logger: Logger = {
    ...{ debug: () => undefined, info: () => undefined, warn: () => undefined },
    error: (message, fields) => void failures.push({ message, ...fields }),
    child: () => logger,
  };
  await using api = await inProcessServer({ logger });
  const random = randomFrom(2026);
  const objects = await everyKind();
  const statuses = new Map<number, number>();
  for (let request = 0; request < requests; request++) {
    const object = oneOf(random, objects);
    const kind = kinds.find((candidate) => candidate.kind === object.kind && apiVersionOf(candidate) === object.apiVersion);
    assert.ok(kind);
    const method = oneOf(random, methods);
    const body = method === 'GET' ? undefined : random(4) === 0 ? object : mutated(random, object);
    const contentType = method === 'PATCH' ? oneOf(random, patchTypes) : 'application/json';
    const url = urlOf(random, kind, random(5) === 0 ? 'absent' : object.metadata.name);
    const { status } = await api.call(method, url, { body, headers: { 'content-type': contentType } });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual(failures, []);
  // The requests are not all refused at the door.
  for (const status of [200, 201, 400, 404, 422])
    assert.ok((statuses.get(status) ?? 0) > 10, `${status} was answered ${statuses.get(status) ?? 0} times`);
  assert.equal((await api.call('GET', '/readyz')).status, 200);
});
