import type { KubeObject } from '#api/object.ts';
import { badRequest } from '#api/status.ts';
import type { SelfSubjectReviewStatus, TokenReview, TokenReviewStatus, UserInfo } from '#api/types/authentication-v1.ts';
import type { ServerContext } from '../request/context.ts';
import type { User } from '../request/user.ts';
import { userOfToken } from '../service-account-tokens/token-user.ts';
import type { Review } from './review-route.ts';

const group = 'authentication.k8s.io';

export const identityReviews: readonly Review[] = [
  {
    group,
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    scope: 'Cluster',
    answer: (_context, _question, { user }): SelfSubjectReviewStatus => ({ userInfo: userInfoOf(user) }),
  },
  { group, kind: 'TokenReview', plural: 'tokenreviews', scope: 'Cluster', answer: (context, question) => reviewToken(context, question) },
];

async function reviewToken(context: ServerContext, question: KubeObject): Promise<TokenReviewStatus> {
  const { spec } = question as TokenReview; // the review's schema has read it
  const token = spec?.token ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const audiences = spec.audiences ?? [];
  const verified = await context.tokens.verify(token, audiences.length === 0 ? context.tokens.audiences : audiences);
  if (verified.kind !== 'valid') return refused(verified.kind === 'invalid' ? verified.problem : 'invalid bearer token');
  const user = userOfToken(verified.claims, context.objects, context.clock);
  if ('rejected' in user) return refused(user.rejected);
  return { authenticated: true, user: userInfoOf(user), audiences: verified.claims.audiences };
}

function refused(error: string): TokenReviewStatus {
  return { authenticated: false, user: {}, error };
}

function userInfoOf({ name, uid, groups, extra }: User): UserInfo {
  return { username: name, ...(uid === '' ? {} : { uid }), groups, ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}
