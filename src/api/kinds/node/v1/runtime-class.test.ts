import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { aRuntimeClass } from '#api/testing/objects.ts';
import type { RuntimeClass } from '#api/types/node-v1.ts';
import { runtimeClass } from './runtime-class.ts';

const problemsOf = (changes: Partial<RuntimeClass>) => runtimeClass.validate({ ...aRuntimeClass(), ...changes }).map(problemText);

test('what a runtime costs and where it is are as a pod could have them', () => {
  const toleration = { key: 'sandbox', operator: 'Exists' };
  assert.deepEqual(problemsOf({ overhead: { podFixed: { cpu: '100m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [toleration] } }), []);
  assert.deepEqual(
    problemsOf({ overhead: { podFixed: { cpu: '-1' } }, scheduling: { tolerations: [toleration, toleration, { operator: 'Odd', key: 'k' }] } }),
    [
      'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'scheduling.tolerations[1]: Duplicate value: {"key":"sandbox","operator":"Exists"}',
      'scheduling.tolerations[2].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
    ],
  );
});
