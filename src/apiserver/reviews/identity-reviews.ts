import type { KubeObject } from '#api/object.ts';
import { badRequest } from '#api/status.ts';
import type { SelfSubjectReviewStatus, TokenReview, TokenReviewStatus, UserInfo } from '#api/types/authentication-v1.ts';
import { joined, type TokenAuthenticator, unknownToken } from '../authentication/token-authenticator.ts';
import type { ServerContext } from '../request/context.ts';
import { authenticated, type User } from '../request/user.ts';
import type { Review } from './review-route.ts';

const group = 'authentication.k8s.io';

export function identityReviews(tokens: TokenAuthenticator): readonly Review[] {
  return [
    {
      group,
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      scope: 'Cluster',
      answer: (_context, _question, { user }): SelfSubjectReviewStatus => ({ userInfo: userInfoOf(user) }),
    },
    { group, kind: 'TokenReview', plural: 'tokenreviews', scope: 'Cluster', answer: (context, question) => reviewToken(tokens, context, question) },
  ];
}

async function reviewToken(tokens: TokenAuthenticator, context: ServerContext, question: KubeObject): Promise<TokenReviewStatus> {
  const { spec, metadata } = question as TokenReview; // the review's schema has read it
  if ((metadata?.namespace ?? '') !== '') throw badRequest(`namespace is not allowed on this type: ${metadata?.namespace}`);
  const token = spec?.token ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const given = spec.audiences ?? [];
  const audiences = given.length === 0 ? context.tokens.audiences : given;
  const answer = await tokens(token, audiences, new AbortController().signal);
  if (answer === undefined) return refused(unknownToken);
  // Upstream asks its loopback client's token first, which says that it does not know this one: clients have come to match on it.
  if ('rejected' in answer) return refused(joined([unknownToken, answer.rejected]));
  return { authenticated: true, user: userInfoOf(authenticated(answer.user)), audiences: answer.audiences };
}

function refused(error: string): TokenReviewStatus {
  return { authenticated: false, user: {}, error };
}

export function userInfoOf({ name, uid, groups, extra }: User): UserInfo {
  return { username: name, ...(uid === '' ? {} : { uid }), groups, ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}
