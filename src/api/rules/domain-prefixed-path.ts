import { type FieldProblem, invalid, required } from '../field-problem.ts';
import { subdomainProblems } from './names.ts';

const path = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const isPath = new RegExp(`^${path}$`);

/** The name of a controller: `acme.io/foo`. */
export function validateDomainPrefixedPath(text: string, field: string): readonly FieldProblem[] {
  if (text === '') return [required(field)];
  const slash = text.indexOf('/');
  const [domain, rest] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (domain === '' || rest === '') return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [
    ...subdomainProblems(domain).map((problem) => invalid(field, domain, problem)),
    ...(isPath.test(rest) ? [] : [invalid(field, rest, `Invalid path (regex used for validation is '${path}')`)]),
  ];
}
