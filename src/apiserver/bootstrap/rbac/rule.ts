import type { PolicyRule } from '#api/types/rbac-v1.ts';

/** Rules by the names of their roles. */
export type RuleTable = Readonly<Record<string, readonly PolicyRule[]>>;

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';
export const readWrite = `${read} ${write}`;

/** Words between spaces; each list of the rule is sorted, as upstream's are. @param groups `core` stands for the group without a name */
export function may(verbs: string, groups: string, resources: string, resourceNames = ''): PolicyRule {
  return {
    verbs: words(verbs),
    apiGroups: words(groups)
      .map((group) => (group === 'core' ? '' : group))
      .sort(),
    resources: words(resources),
    ...(resourceNames === '' ? {} : { resourceNames: words(resourceNames) }),
  };
}

/** For paths that are no resources. */
export function mayPath(verbs: string, paths: string): PolicyRule {
  return { verbs: words(verbs), nonResourceURLs: words(paths) };
}

/** What a part needs that tells about its work. */
export const events: PolicyRule = may('create patch update', 'core events.k8s.io', 'events');

/** What a part needs that asks whether others are who they say and may do what they wish. */
export const askAboutOthers: readonly PolicyRule[] = [
  may('create', 'authentication.k8s.io', 'tokenreviews'),
  may('create', 'authorization.k8s.io', 'subjectaccessreviews'),
];

function words(text: string): readonly string[] {
  return text.split(' ').sort();
}
