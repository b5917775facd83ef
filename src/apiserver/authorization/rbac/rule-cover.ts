import { quote } from '#api/quote.ts';
import type { PolicyRule } from '#api/types/rbac-v1.ts';

/** What of the wanted rules the held ones do not allow, in parts of one verb, one group, one resource and one name, or one verb and one path. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap((rule) => {
    // A few kilobytes of rule make a million parts: such a one is held as a whole, or not at all.
    if (partCount(rule) > maxParts) return held.some((one) => covers(one, rule)) ? [] : [rule];
    return broken(rule).filter((part) => !held.some((one) => covers(one, part)));
  });
}

const maxParts = 10_000;

function partCount({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return verbs.length * (apiGroups.length * resources.length * Math.max(resourceNames.length, 1) + nonResourceURLs.length);
}

/** Rules of one resource that differ by their verbs become one; the others come first. */
export function compacted(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const others: PolicyRule[] = [];
  const byResource = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = simpleKey(rule);
    if (key === undefined) others.push(rule);
    else byResource.set(key, { ...rule, verbs: [...(byResource.get(key)?.verbs ?? []), ...rule.verbs] });
  }
  return [...others, ...byResource.values()];
}

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}` */
export function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  const shown = parts.filter(([, values = []]) => values.length > 0).map(([name, values = []]) => `${name}:${quotedList(values)}`);
  return `{${shown.join(', ')}}`;
}

/** `["a" "b"]` */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(quote).join(' ')}]`;
}

/** A part is either wholly covered by one rule or not at all. */
function broken({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): readonly PolicyRule[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name): PolicyRule => {
          const part = { verbs: [verb], apiGroups: [group], resources: [resource] };
          return name === undefined ? part : { ...part, resourceNames: [name] };
        }),
      ),
    ),
  );
  return [...ofResources, ...nonResourceURLs.flatMap((path) => verbs.map((verb): PolicyRule => ({ verbs: [verb], nonResourceURLs: [path] })))];
}

function covers(held: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(held.verbs, part.verbs) &&
    hasAll(held.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
    coversNames(held.resourceNames ?? [], part.resourceNames ?? []) &&
    (part.nonResourceURLs ?? []).every((path) => (held.nonResourceURLs ?? []).some((pattern) => coversPath(pattern, path)))
  );
}

function hasAll(held: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return held.includes('*') || wanted.every((one) => held.includes(one));
}

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`);
}

/** Without names a rule is about all of them. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  return held.length === 0 || (wanted.length > 0 && wanted.every((name) => held.includes(name)));
}

function coversPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));
}

function simpleKey({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string | undefined {
  const isSimple = apiGroups.length === 1 && resources.length === 1 && resourceNames.length === 0 && nonResourceURLs.length === 0;
  return isSimple ? JSON.stringify([apiGroups, resources]) : undefined;
}
