import { mastersGroup } from '../request/user.ts';
import { type Authorizer, allow } from './authorizer.ts';

/**
 * Asks one authorizer after the other: the first that allows or denies has decided, and what none has an opinion about is refused with the
 * reasons of all. Members of `system:masters` may do everything before any is asked.
 */
export function createAuthorizerChain(authorizers: readonly Authorizer[]): Authorizer {
  return {
    decide: (user, access) => {
      if (user.groups.includes(mastersGroup)) return allow('');
      const reasons: string[] = [];
      const problems: string[] = [];
      for (const authorizer of authorizers) {
        const decision = authorizer.decide(user, access);
        if (decision.verdict !== 'no opinion') return decision;
        if (decision.reason !== '') reasons.push(decision.reason);
        if (decision.problem !== '') problems.push(decision.problem);
      }
      return { verdict: 'no opinion', reason: reasons.join('\n'), problem: joinedProblems(problems) };
    },
    rulesOf: (user, namespace) => {
      const all = authorizers.map((authorizer) => authorizer.rulesOf(user, namespace));
      return {
        rules: all.flatMap(({ rules }) => rules),
        isComplete: all.every(({ isComplete }) => isComplete),
        problems: all.flatMap(({ problems }) => problems),
      };
    },
  };
}

/** One problem bare, several as `[a, b]`, the same text once. */
export function joinedProblems(problems: readonly string[]): string {
  const texts = [...new Set(problems)];
  return texts.length > 1 ? `[${texts.join(', ')}]` : (texts[0] ?? '');
}
