import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticated } from '../request/user.ts';
import { type Access, type Authorizer, allow, type Decision, noOpinion, noOpinionBecause } from './authorizer.ts';
import { createAuthorizerChain } from './authorizer-chain.ts';

const jane = authenticated({ name: 'jane' });
const wanted: Access = { kind: 'path', verb: 'get', path: '/' };
const deny: Decision = { verdict: 'deny', reason: 'no', problem: '' };
const says = (decision: Decision, rulesOf: Authorizer['rulesOf'] = () => ({ rules: [], isComplete: true, problems: [] })): Authorizer => ({
  decide: () => decision,
  rulesOf,
});
const decided = (...decisions: readonly Decision[]) => createAuthorizerChain(decisions.map((decision) => says(decision))).decide(jane, wanted);

test('the first authorizer that has an opinion decides', () => {
  assert.deepEqual(decided(noOpinionBecause('a', 'p'), allow('b'), deny), allow('b'));
  assert.deepEqual(decided(noOpinion, deny, allow('b')), deny);
});

test('without an opinion the reasons of all are told, line by line', () => {
  assert.deepEqual(decided(noOpinionBecause('a'), noOpinion, noOpinionBecause('b', 'p')), { verdict: 'no opinion', reason: 'a\nb', problem: 'p' });
  assert.equal(decided(noOpinionBecause('', 'p'), noOpinionBecause('', 'q'), noOpinionBecause('', 'p')).problem, '[p, q]');
});

test('members of system:masters are asked nothing', () => {
  const master = authenticated({ name: 'root', groups: ['system:masters'] });
  assert.equal(createAuthorizerChain([says(deny)]).decide(master, wanted).verdict, 'allow');
});

test('rules are those of all authorizers, complete if all are', () => {
  const rule = { verbs: ['get'], nonResourceURLs: ['/'] };
  const chain = createAuthorizerChain([
    says(noOpinion, () => ({ rules: [], isComplete: false, problems: ['cannot tell'] })),
    says(noOpinion, () => ({ rules: [rule], isComplete: true, problems: [] })),
  ]);
  assert.deepEqual(chain.rulesOf(jane, 'n'), { rules: [rule], isComplete: false, problems: ['cannot tell'] });
});
