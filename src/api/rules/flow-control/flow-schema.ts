import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type { FlowSchema, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, Subject } from '#api/types/flowcontrol-v1.ts';
import { labelProblems, subdomainProblems } from '../names.ts';

const precedenceMax = 10_000;
const methods = ['ByNamespace', 'ByUser'];
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema({ metadata, spec }: FlowSchema): readonly FieldProblem[] {
  const { matchingPrecedence: precedence = 0, distinguisherMethod: method, rules = [] } = spec ?? {};
  const level = spec?.priorityLevelConfiguration?.name ?? '';
  const at = 'spec.matchingPrecedence';
  const problems: FieldProblem[] = [];
  if (precedence <= 0) problems.push(invalid(at, precedence, 'must be a positive value'));
  if (precedence > precedenceMax) problems.push(invalid(at, precedence, `must not be greater than ${precedenceMax}`));
  if (precedence === 1 && metadata.name !== 'exempt') {
    problems.push(invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  if (method !== undefined && !methods.includes(method.type)) problems.push(notSupported('spec.distinguisherMethod.type', method, methods));
  const name = 'spec.priorityLevelConfiguration.name';
  if (level === '') problems.push(required(name, 'must reference a priority level'));
  else problems.push(...subdomainProblems(level).map((text) => invalid(name, level, text)));
  return [...problems, ...rules.flatMap((rule, index) => validateRules(rule, `spec.rules[${index}]`))];
}

function validateRules(rules: PolicyRulesWithSubjects, field: string): readonly FieldProblem[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules;
  return [
    ...(subjects.length === 0 ? [required(`${field}.subjects`, 'subjects must contain at least one value')] : []),
    ...subjects.flatMap((subject, index) => validateSubject(subject, `${field}.subjects[${index}]`)),
    ...(resourceRules.length + nonResourceRules.length === 0
      ? [required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resourceRules.flatMap((rule, index) => validateResourceRule(rule, `${field}.resourceRules[${index}]`)),
    ...nonResourceRules.flatMap((rule, index) => validateNonResourceRule(rule, `${field}.nonResourceRules[${index}]`)),
  ];
}

const subjectParts = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;

function validateSubject(subject: Subject, field: string): readonly FieldProblem[] {
  const { kind } = subject;
  if (kind !== 'Group' && kind !== 'ServiceAccount' && kind !== 'User') {
    return [notSupported(`${field}.kind`, kind, Object.keys(subjectParts))];
  }
  const own = subjectParts[kind];
  const others = Object.entries(subjectParts).filter(([other, part]) => other !== kind && subject[part] !== undefined);
  return [
    ...(subject[own] === undefined
      ? [required(`${field}.${own}`, `${own} is required when subject kind is '${kind}'`)]
      : validateNamed(subject, own, `${field}.${own}`)),
    ...others.map(([other, part]) => forbidden(`${field}.${part}`, `${part} is forbidden when subject kind is not '${other}'`)),
  ];
}

function validateNamed(subject: Subject, own: 'group' | 'serviceAccount' | 'user', field: string): readonly FieldProblem[] {
  const name = subject[own]?.name ?? '';
  if (own !== 'serviceAccount') return name === '' ? [required(`${field}.name`)] : [];
  const namespace = subject.serviceAccount?.namespace ?? '';
  return [
    ...(name === '' ? [required(`${field}.name`)] : []),
    ...(name === '' || name === '*' ? [] : subdomainProblems(name).map((text) => invalid(`${field}.name`, name, text))),
    ...(namespace === ''
      ? [required(`${field}.namespace`, 'must specify namespace for service account')]
      : labelProblems(namespace).map((text) => invalid(`${field}.namespace`, namespace, text))),
  ];
}

function validateResourceRule(rule: ResourcePolicyRule, field: string): readonly FieldProblem[] {
  const { apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule;
  const noneGiven = 'resource rules that are not cluster scoped must supply at least one namespace';
  return [
    ...validateVerbs(rule.verbs ?? [], `${field}.verbs`),
    ...validateList(apiGroups, 'resource rules must supply at least one api group', 'api groups', `${field}.apiGroups`),
    ...validateList(resources, 'resource rules must supply at least one resource', 'resources', `${field}.resources`),
    ...(namespaces.length === 0 && !clusterScope ? [required(`${field}.namespaces`, noneGiven)] : []),
    ...(namespaces.includes('*')
      ? validateList(namespaces, noneGiven, 'namespaces', `${field}.namespaces`)
      : namespaces.flatMap((namespace, index) =>
          labelProblems(namespace).map((text) =>
            invalid(`${field}.namespaces[${index}]`, namespace, `each member of this list must be '*' or a DNS-1123 label; ${text}`),
          ),
        )),
  ];
}

function validateNonResourceRule(rule: NonResourcePolicyRule, field: string): readonly FieldProblem[] {
  const { nonResourceURLs: urls = [] } = rule;
  const at = `${field}.nonResourceURLs`;
  return [
    ...validateVerbs(rule.verbs ?? [], `${field}.verbs`),
    ...validateList(urls, 'nonResourceURLs must contain at least one value', 'non-resource URLs', at),
    ...(urls.includes('*') ? [] : urls.flatMap((url, index) => validateUrl(url, `${at}[${index}]`))),
  ];
}

function validateVerbs(given: readonly string[], field: string): readonly FieldProblem[] {
  const problems = validateList(given, 'verbs must contain at least one value', 'verbs', field);
  if (given.includes('*') || given.every((verb) => verbs.includes(verb))) return problems;
  return [...problems, notSupported(field, given, verbs)];
}

function validateList(given: readonly string[], whenEmpty: string, what: string, field: string): readonly FieldProblem[] {
  if (given.length === 0) return [required(field, whenEmpty)];
  return given.length > 1 && given.includes('*') ? [invalid(field, given, `if '*' is present, must not specify other ${what}`)] : [];
}

function validateUrl(path: string, field: string): readonly FieldProblem[] {
  const problem = (detail: string) => [invalid(field, path, detail)];
  if (path === '') return problem('must not be empty');
  if (path === '/') return [];
  if (!path.startsWith('/')) return problem('must start with slash');
  if (path.includes(' ')) return problem('must not contain white-space');
  if (path.includes('//')) return problem('must not contain double slash');
  return /^[^*]*(?:\/\*)?$/.test(path) ? [] : problem('wildcard can only do suffix matching');
}
