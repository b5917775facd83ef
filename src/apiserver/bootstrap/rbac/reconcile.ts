import { deepEqual } from '#api/deep-equal.ts';
import type { KubeObject, NewObject } from '#api/object.ts';
import type { Binding } from '#api/rules/rbac-bindings.ts';
import type { AggregationRule, PolicyRule, Subject } from '#api/types/rbac-v1.ts';
import { uncovered } from '../../authorization/rbac/rule-cover.ts';
import { autoUpdateAnnotation } from './policy.ts';

/** What both kinds of roles have. */
export interface RoleLike extends KubeObject {
  readonly rules?: readonly PolicyRule[] | undefined;
  readonly aggregationRule?: AggregationRule | undefined;
}

/** The role with the rules, selectors, labels and annotations that it lacks; what somebody added stays. Undefined: there is nothing to do. */
export function reconciledRole<T extends RoleLike>(existing: T, expected: NewObject<T>): T | undefined {
  if (isLeftAlone(existing)) return undefined;
  const marked = withMarks(existing, expected);
  const { rules: wantedRules = [], aggregationRule: wanted } = expected as Pick<RoleLike, 'rules' | 'aggregationRule'>; // a new role has them too
  const rules = existing.rules ?? [];
  const lacking = deepEqual(rules, wantedRules) ? [] : uncovered(rules, wantedRules);
  const complete = lacking.length === 0 ? marked : { ...marked, rules: [...rules, ...lacking] };
  return changed(withAggregation(complete, wanted), existing);
}

/** The binding with the subjects, labels and annotations that it lacks; `recreate`: it grants another role, which no update can mend. */
export function reconciledBinding<T extends Binding>(existing: T, expected: NewObject<T>): T | 'recreate' | undefined {
  if (isLeftAlone(existing)) return undefined;
  const { roleRef, subjects: wanted = [] } = expected as Pick<Binding, 'roleRef' | 'subjects'>; // a new binding has them too
  if (!deepEqual(existing.roleRef, roleRef)) return 'recreate';
  const subjects = existing.subjects ?? [];
  const lacking = wanted.filter((subject) => !subjects.some((present) => isSame(present, subject)));
  const marked = withMarks(existing, expected);
  return changed(lacking.length === 0 ? marked : { ...marked, subjects: [...subjects, ...lacking] }, existing);
}

function isLeftAlone({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[autoUpdateAnnotation] === 'false';
}

/** What the object says itself goes before what is expected. */
function withMarks<T extends KubeObject>(existing: T, { metadata }: NewObject<T>): T {
  const { labels, annotations } = existing.metadata;
  return {
    ...existing,
    metadata: { ...existing.metadata, labels: { ...metadata.labels, ...labels }, annotations: { ...metadata.annotations, ...annotations } },
  };
}

function withAggregation<T extends RoleLike>(role: T, wanted: AggregationRule | undefined): T {
  if (wanted === undefined) {
    const { aggregationRule, ...rest } = role;
    return aggregationRule === undefined ? role : (rest as unknown as T); // the field is optional in both kinds of roles
  }
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  const lacking = (wanted.clusterRoleSelectors ?? []).filter((selector) => !selectors.some((present) => deepEqual(present, selector)));
  return lacking.length === 0 ? role : { ...role, aggregationRule: { clusterRoleSelectors: [...selectors, ...lacking] } };
}

function isSame(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '') && (a.apiGroup ?? '') === (b.apiGroup ?? '');
}

function changed<T>(next: T, existing: T): T | undefined {
  return deepEqual(next, existing) ? undefined : next;
}
