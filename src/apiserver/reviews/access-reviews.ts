import { badRequest } from '#api/status.ts';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} from '#api/types/authorization-v1.ts';
import type { Access, Authorizer } from '../authorization/authorizer.ts';
import { joinedProblems } from '../authorization/authorizer-chain.ts';
import type { User } from '../request/user.ts';
import type { Review } from './review-route.ts';

const group = 'authorization.k8s.io';

/** The casts are true because each review's schema has read its question. */
export const accessReviews: readonly Review[] = [
  {
    group,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    scope: 'Cluster',
    answer: ({ authorizer }, question, { user }) => decided(authorizer, user, (question as SelfSubjectAccessReview).spec),
  },
  {
    group,
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    scope: 'Cluster',
    answer: ({ authorizer }, question, { user }) => rules(authorizer, user, (question as SelfSubjectRulesReview).spec?.namespace ?? ''),
  },
  {
    group,
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    scope: 'Cluster',
    answer: ({ authorizer }, question) => {
      const { spec } = question as SubjectAccessReview;
      return decided(authorizer, subjectOf(spec), spec);
    },
  },
  {
    group,
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    scope: 'Namespaced',
    answer: ({ authorizer }, question, { info }) => {
      const { spec } = question as LocalSubjectAccessReview;
      const namespace = info.kind === 'resource' ? info.namespace : '';
      if (spec?.resourceAttributes?.namespace !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
      return decided(authorizer, subjectOf(spec), spec);
    },
  },
];

function subjectOf(spec: SubjectAccessReviewSpec | undefined): User {
  return { name: spec?.user ?? '', uid: spec?.uid ?? '', groups: spec?.groups ?? [], extra: spec?.extra ?? {} };
}

function decided(authorizer: Authorizer, user: User, spec: SelfSubjectAccessReviewSpec | undefined): SubjectAccessReviewStatus {
  const { verdict, reason, problem } = authorizer.decide(user, accessOf(spec));
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(problem === '' ? {} : { evaluationError: problem }),
  };
}

function accessOf(spec: SelfSubjectAccessReviewSpec | undefined): Access {
  const resource = spec?.resourceAttributes;
  const path = spec?.nonResourceAttributes;
  if ((resource === undefined) === (path === undefined))
    throw badRequest('exactly one of resourceAttributes and nonResourceAttributes must be given');
  if (resource === undefined) return { kind: 'path', verb: path?.verb ?? '', path: path?.path ?? '' };
  return {
    kind: 'resource',
    verb: resource.verb ?? '',
    group: resource.group ?? '',
    resource: resource.resource ?? '',
    subresource: resource.subresource ?? '',
    namespace: resource.namespace ?? '',
    name: resource.name ?? '',
  };
}

function rules(authorizer: Authorizer, user: User, namespace: string): SubjectRulesReviewStatus {
  const { rules: all, isComplete, problems } = authorizer.rulesOf(user, namespace);
  return {
    resourceRules: all
      .filter(({ resources }) => resources !== undefined)
      .map(({ verbs, apiGroups = [], resources = [], resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames === undefined ? {} : { resourceNames }),
      })),
    nonResourceRules: all
      .filter(({ nonResourceURLs }) => nonResourceURLs !== undefined)
      .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
    incomplete: !isComplete,
    ...(problems.length === 0 ? {} : { evaluationError: joinedProblems(problems) }),
  };
}
