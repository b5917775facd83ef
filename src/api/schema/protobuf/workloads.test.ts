import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import { created } from '#api/testing/kind-objects.ts';
import { aBudget, aCronJob, aDaemonSet, aDeployment, aJob, anAutoscaler, aReplicationController, aStatefulSet } from '#api/testing/workloads.ts';
import { decodeJson } from '../decode-json.ts';
import { decodeProtobuf } from './decode.ts';
import { encodeProtobuf } from './encode.ts';

const zeros = { maxUnavailable: 0, maxSurge: 1 };

/** Bodies in which zeros say something that their absence does not. */
const bodies = [
  aDeployment({ replicas: 0, strategy: { rollingUpdate: zeros }, revisionHistoryLimit: 0 }),
  aDaemonSet({ updateStrategy: { rollingUpdate: zeros }, revisionHistoryLimit: 0 }),
  aStatefulSet({ replicas: 0, updateStrategy: { rollingUpdate: { partition: 0 } } }),
  aJob({ backoffLimit: 0, ttlSecondsAfterFinished: 0, suspend: true }),
  aJob({ completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 0, maxFailedIndexes: 0 }),
  aCronJob({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, startingDeadlineSeconds: 0 }),
  aBudget({ minAvailable: 0 }),
  aBudget({ minAvailable: undefined, maxUnavailable: '0%' }),
  anAutoscaler({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } }),
  aReplicationController({ replicas: 0 }),
];

for (const body of bodies) {
  test(`a ${body.kind} says in protobuf what it says in JSON: ${JSON.stringify(body.spec).slice(0, 120)}`, () => {
    const kind = kindOf(body);
    const object = created(kind, body);
    const bytes = encodeProtobuf(kind.schema, { ...object });
    const read = { ...object, ...decodeJson(kind.schema, decodeProtobuf(kind.schema, bytes)).object };
    const specOf = (whole: object) => JSON.parse(JSON.stringify(whole)).spec;
    // Switches that are off are gone in protobuf: the default brings them back.
    assert.deepEqual(specOf(kind.setDefaults(read)), specOf(object));
  });
}

function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Kind {
  const found = kinds.find((candidate) => candidate.kind === kind && apiVersion === [candidate.group, candidate.version].filter(Boolean).join('/'));
  assert.ok(found);
  return found;
}
