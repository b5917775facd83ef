import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Creates the object, or deletes it when it is there. */
async function toggle(api: InProcessServer, name: string, isEven: boolean): Promise<void> {
  const { status } = await api.call('DELETE', `${configMaps}/${name}`);
  if (status === 404) await api.call('POST', configMaps, { body: { metadata: { name, labels: { even: String(isEven) } } } });
}

interface Step {
  readonly limit: number;
  /** What is written before the next page. */
  readonly writes: readonly string[];
}

const steps = fc.array(fc.record<Step>({ limit: fc.integer({ min: 1, max: 4 }), writes: fc.array(fc.constantFrom(...names), { maxLength: 3 }) }), {
  minLength: 9,
  maxLength: 9,
});

test('whatever is written between pages, they are together the list of the first page’s moment, with true counts of the rest', async () => {
  await using api = await inProcessServer();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names)), steps, fc.constantFrom('', '&labelSelector=even%3Dtrue'), async (first, plan, selector) => {
      for (const name of first) await toggle(api, name, name < 'e');
      const whole = (await api.call('GET', `${configMaps}?x=y${selector}`)).body;
      const seen: unknown[] = [];
      let token = '';
      for (const { limit, writes } of plan) {
        const { body } = await api.call('GET', `${configMaps}?limit=${limit}${selector}${token === '' ? '' : `&continue=${token}`}`);
        assert.equal(body.metadata.resourceVersion, whole.metadata.resourceVersion);
        seen.push(...body.items);
        token = body.metadata.continue ?? '';
        if (token === '') break;
        assert.equal(body.items.length, limit);
        assert.equal(body.metadata.remainingItemCount, selector === '' ? whole.items.length - seen.length : undefined);
        for (const name of writes) await toggle(api, name, name < 'e');
      }
      assert.deepEqual([token, seen], ['', whole.items]);
    }),
    { numRuns: 40 },
  );
});
