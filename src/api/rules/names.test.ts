import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configKeyProblems,
  environmentNameProblems,
  isIpAddress,
  labelProblems,
  labelValueProblems,
  pathSegmentProblems,
  portNameProblems,
  qualifiedNameProblems,
  subdomainProblems,
  type TextRule,
  wildcardProblems,
} from './names.ts';

const table: readonly (readonly [rule: string, test: TextRule, good: readonly string[], bad: readonly string[]])[] = [
  ['subdomain', subdomainProblems, ['a', 'a.b-c.9', 'x'.repeat(253)], ['', 'A', 'a_b', '-a', 'a-', 'a..b', 'x'.repeat(254)]],
  ['wildcard', wildcardProblems, ['*.a', '*.a.b-c'], ['', '*', 'a', '*a', '*.*.a', 'a.*.b', '*.A', `*.${'x'.repeat(252)}`]],
  ['label', labelProblems, ['a', '1-a', 'x'.repeat(63)], ['', 'a.b', 'A', '-a', 'a-', 'x'.repeat(64)]],
  ['path segment', pathSegmentProblems, ['a', 'A:b', '...'], ['.', '..', 'a/b', 'a%b']],
  ['qualified name', qualifiedNameProblems, ['a', 'A_b.c-d', 'example.com/a'], ['', '/a', 'a/', 'a/b/c', 'A.com/a', '-a', `a/${'x'.repeat(64)}`]],
  ['label value', labelValueProblems, ['', 'a', 'A_b.c'], ['-', 'a b', 'x'.repeat(64)]],
  ['config key', configKeyProblems, ['a', '.a', 'A_b-c.d'], ['', '.', '..', '..a', 'a/b', 'a b']],
  ['environment name', environmentNameProblems, ['A', 'a b', '1a', 'a.b'], ['', 'a=b', 'a\n', 'ä']],
  ['port name', portNameProblems, ['http', 'a-1'], ['', '123', 'a--b', '-a', 'a-', 'A', 'x'.repeat(16)]],
  [
    'address',
    (text) => (isIpAddress(text) ? [] : ['no']),
    ['1.2.3.4', '255.255.255.255', '::', '::1', 'fe80::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4'],
    ['', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '1.2.3.4.', ':::', '1:2', '1:2:3:4:5:6:7:8:9', 'g::1', '::1.2.3'],
  ],
];

for (const [name, rule, good, bad] of table) {
  test(`a ${name} may be ${good.map((text) => JSON.stringify(text.slice(0, 20))).join(', ')}`, () => {
    for (const text of good) assert.deepEqual(rule(text), [], text);
  });
  test(`a ${name} may not be ${bad.map((text) => JSON.stringify(text.slice(0, 20))).join(', ')}`, () => {
    for (const text of bad) assert.notDeepEqual(rule(text), [], text);
  });
}
