import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule } from '#api/types/rbac-v1.ts';
import { type Access, ruleAllows } from '../authorizer.ts';
import { compacted, ruleText, uncovered } from './rule-cover.ts';

const someOf = (values: readonly string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const resourceRule = fc.record({
  verbs: someOf(['get', 'list', 'create', '*']),
  apiGroups: someOf(['', 'apps', '*']),
  resources: someOf(['pods', 'pods/log', 'deployments', 'deployments/log', '*/log', '*']),
  resourceNames: fc.oneof(fc.constant([]), someOf(['a', 'b'])),
});
const pathRule = fc.record({ verbs: someOf(['get', 'post', '*']), nonResourceURLs: someOf(['/a', '/a/*', '/a/b', '/b', '*']) });
const rules: fc.Arbitrary<readonly PolicyRule[]> = fc.array(fc.oneof(resourceRule, pathRule), { maxLength: 4 });
const access: fc.Arbitrary<Access> = fc.oneof(
  fc.record({
    kind: fc.constant('resource' as const),
    verb: fc.constantFrom('get', 'list', 'delete'),
    group: fc.constantFrom('', 'apps', 'batch'),
    resource: fc.constantFrom('pods', 'deployments', 'jobs'),
    subresource: fc.constantFrom('', 'log', 'status'),
    namespace: fc.constant('n'),
    name: fc.constantFrom('', 'a', 'b', 'c'),
  }),
  fc.record({ kind: fc.constant('path' as const), verb: fc.constantFrom('get', 'put'), path: fc.constantFrom('/a', '/a/', '/a/b', '/c') }),
);
const allows = (some: readonly PolicyRule[], wanted: Access) => some.some((rule) => ruleAllows(rule, wanted));
const texts = (some: readonly PolicyRule[]) => some.map(ruleText);

test('rules that cover others allow whatever those allow', () => {
  fc.assert(
    fc.property(rules, rules, access, (held, wanted, one) => {
      fc.pre(uncovered(held, wanted).length === 0 && allows(wanted, one));
      return allows(held, one);
    }),
  );
});

test('what is left uncovered, together with what is held, covers all', () => {
  fc.assert(fc.property(rules, rules, (held, wanted) => uncovered([...held, ...uncovered(held, wanted)], wanted).length === 0));
});

test('rules cover themselves, more rules cover more, and one who may do everything lacks nothing', () => {
  const everything: readonly PolicyRule[] = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ];
  fc.assert(
    fc.property(rules, rules, (some, others) => {
      assert.deepEqual(uncovered(some, some), []);
      assert.deepEqual(uncovered(everything, some), []);
      assert.ok(uncovered([...some, ...others], others).length === 0);
    }),
  );
});

test('compacting changes no right', () => {
  fc.assert(
    fc.property(rules, rules, (held, wanted) => {
      const lacking = uncovered(held, wanted);
      assert.deepEqual(uncovered(compacted(lacking), lacking), []);
      assert.deepEqual(uncovered(lacking, compacted(lacking)), []);
    }),
  );
});

test('a wildcard is covered by a wildcard only, and names by rules without names', () => {
  const held: readonly PolicyRule[] = [
    { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', '*/scale'] },
    { verbs: ['get'], nonResourceURLs: ['/logs/*'] },
  ];
  const lacks = (wanted: PolicyRule) => texts(uncovered(held, [wanted]));
  assert.deepEqual(lacks({ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }), []);
  assert.deepEqual(lacks({ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }), []);
  assert.deepEqual(lacks({ verbs: ['get'], nonResourceURLs: ['/logs/a', '/logs'] }), ['{NonResourceURLs:["/logs"], Verbs:["get"]}']);
  assert.deepEqual(lacks({ verbs: ['*'], apiGroups: [''], resources: ['pods'] }), ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']);
  assert.deepEqual(lacks({ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }), ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}']);
});

test('rules of one resource are told as one', () => {
  const lacking = uncovered(
    [],
    [
      { verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['deployments'] },
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] },
      { verbs: ['watch'], apiGroups: ['apps'], resources: ['deployments'] },
    ],
  );
  assert.deepEqual(texts(compacted(lacking)), [
    '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
    '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}',
    '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list" "watch"]}',
  ]);
});

test('a rule of too many parts is held as a whole, or not at all', () => {
  const many = (letter: string) => Array.from({ length: 100 }, (_, index) => `${letter}${index}`);
  const wanted = { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') };
  assert.deepEqual(uncovered([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], [wanted]), []);
  assert.deepEqual(uncovered([{ ...wanted, verbs: ['v0'] }], [wanted]), [wanted]);
});
