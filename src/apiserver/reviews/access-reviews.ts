import { badRequest, invalid } from '#api/status.ts';
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
import type { Authorizer } from '../authorization/authorizer.ts';
import { joinedProblems } from '../authorization/authorizer-chain.ts';
import type { User } from '../request/user.ts';
import { questionOf, validateQuestion, validateSubject } from './access-questions.ts';
import type { Review } from './review-route.ts';

const group = 'authorization.k8s.io';

/** The casts are true because each review's schema has read its question. */
export const accessReviews: readonly Review[] = [
  {
    group,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    scope: 'Cluster',
    answer: ({ authorizer }, question, { user }) => {
      const { spec, metadata } = question as SelfSubjectAccessReview;
      refuse('SelfSubjectAccessReview', validateQuestion(spec, metadata));
      return decided(authorizer, user, spec);
    },
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
      const { spec, metadata } = question as SubjectAccessReview;
      refuse('SubjectAccessReview', [...validateQuestion(spec, metadata), ...validateSubject(spec)]);
      return decided(authorizer, subjectOf(spec), spec);
    },
  },
  {
    group,
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    scope: 'Namespaced',
    answer: ({ authorizer }, question, { info }) => {
      const { spec, metadata } = question as LocalSubjectAccessReview;
      const namespace = info.kind === 'resource' ? info.namespace : '';
      if ((metadata.namespace || namespace) !== namespace) {
        throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
      }
      refuse('LocalSubjectAccessReview', [...validateQuestion(spec, metadata, namespace), ...validateSubject(spec)]);
      return decided(authorizer, subjectOf(spec), spec);
    },
  },
];

function refuse(kind: string, problems: ReturnType<typeof validateQuestion>): void {
  if (problems.length > 0) throw invalid({ group, kind }, '', problems);
}

/** As asked: it is not looked whether there is such a user, nor which groups it would have. */
function subjectOf(spec: SubjectAccessReviewSpec | undefined): User {
  return { name: spec?.user ?? '', uid: spec?.uid ?? '', groups: spec?.groups ?? [], extra: spec?.extra ?? {} };
}

function decided(authorizer: Authorizer, user: User, spec: SelfSubjectAccessReviewSpec | undefined): SubjectAccessReviewStatus {
  const { access, ignored } = questionOf(spec);
  const { verdict, reason, problem } = authorizer.decide(user, access);
  const evaluationError = [...(problem === '' ? [] : [problem]), ...ignored].join('; ');
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}

function rules(authorizer: Authorizer, user: User, namespace: string): SubjectRulesReviewStatus {
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules: all, isComplete, problems } = authorizer.rulesOf(user, namespace);
  return {
    resourceRules: all
      .filter(({ resources = [] }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames = [] }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: all
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: !isComplete,
    ...(problems.length === 0 ? {} : { evaluationError: joinedProblems(problems) }),
  };
}
