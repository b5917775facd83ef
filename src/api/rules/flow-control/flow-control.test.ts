import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { flowSchema } from '#api/kinds/flowcontrol/v1/flow-schema.ts';
import { priorityLevelConfiguration } from '#api/kinds/flowcontrol/v1/priority-level-configuration.ts';
import type { KubeObject } from '#api/object.ts';

function made<T extends KubeObject>(kind: Kind<T>, spec: object, name = 'a'): T {
  const metadata = { name, uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
  return kind.setDefaults({ apiVersion: 'v1', kind: kind.kind, metadata, spec } as unknown as T); // the spec is one of a T
}
const ofSchema = (spec: object, name?: string) => flowSchema.validate(made(flowSchema, spec, name)).map(problemText);
const ofLevel = (spec: object, name?: string) => priorityLevelConfiguration.validate(made(priorityLevelConfiguration, spec, name)).map(problemText);

const level = { priorityLevelConfiguration: { name: 'low' } };
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] };

test('a flow schema names its level and its place in the order', () => {
  assert.equal(made(flowSchema, level).spec?.matchingPrecedence, 1000);
  assert.deepEqual(ofSchema(level), []);
  assert.deepEqual(ofSchema({ matchingPrecedence: 1, distinguisherMethod: { type: 'Odd' } }), [
    `spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1`,
    'spec.distinguisherMethod.type: Unsupported value: {"type":"Odd"}: supported values: "ByNamespace", "ByUser"',
    'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
  ]);
  assert.deepEqual(ofSchema({ ...level, matchingPrecedence: 10_001 }), [
    'spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000',
  ]);
});

test('its rules say whose requests, and which', () => {
  const ofRules = (...rules: readonly object[]) => ofSchema({ ...level, rules });
  assert.deepEqual(ofRules({ subjects: [{ kind: 'User', user: { name: 'me' } }], resourceRules: [rule] }), []);
  assert.deepEqual(ofRules({}), [
    'spec.rules[0].subjects: Required value: subjects must contain at least one value',
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ]);
  const subjects = [
    { kind: 'Odd' },
    { kind: 'Group', user: { name: 'me' } },
    { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: '' } },
  ];
  assert.deepEqual(ofRules({ subjects, resourceRules: [{ ...rule, verbs: ['look'], namespaces: [] }] }), [
    'spec.rules[0].subjects[0].kind: Unsupported value: "Odd": supported values: "Group", "ServiceAccount", "User"',
    `spec.rules[0].subjects[1].group: Required value: group is required when subject kind is 'Group'`,
    `spec.rules[0].subjects[1].user: Forbidden: user is forbidden when subject kind is not 'User'`,
    'spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account',
    'spec.rules[0].resourceRules[0].verbs: Unsupported value: ["look"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
  ]);
  const user = { kind: 'User', user: { name: '*' } };
  assert.deepEqual(ofRules({ subjects: [user], nonResourceRules: [{ verbs: ['*', 'get'], nonResourceURLs: ['x', '/a*', '/b/*'] }] }), [
    `spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "x": must start with slash',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a*": wildcard can only do suffix matching',
  ]);
});

test('a level is limited in upstream’s defaults, or exempt by its name', () => {
  const limited = { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } };
  assert.deepEqual(made(priorityLevelConfiguration, limited).spec?.limited, {
    nominalConcurrencyShares: 30,
    lendablePercent: 0,
    limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
  });
  assert.deepEqual(ofLevel(limited), []);
  assert.deepEqual(ofLevel({ type: 'Exempt' }, 'exempt'), []);
  assert.deepEqual(ofLevel({ type: 'Exempt', limited: {} }), [
    `spec.type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`,
    'spec.limited: Forbidden: must be nil if the type is not Limited',
  ]);
  const queuing = { queues: 1_000, handSize: 20, queueLengthLimit: -1 };
  assert.deepEqual(ofLevel({ type: 'Limited', limited: { lendablePercent: 101, limitResponse: { type: 'Queue', queuing } } }), [
    'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive',
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 20: required entropy bits of deckSize 1000 and handSize 20 should not be greater than 60',
  ]);
  assert.deepEqual(ofLevel({ type: 'Limited', limited: { limitResponse: { type: 'Reject', queuing } } }), [
    'spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited',
  ]);
});
