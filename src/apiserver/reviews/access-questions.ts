import { type FieldProblem, forbidden, invalid, required } from '#api/field-problem.ts';
import { parseLabelRequirements } from '#api/label-selector-text.ts';
import type { KubeObject } from '#api/object.ts';
import { type FieldRequirement, labelSelectorMatcher, parseFieldSelector } from '#api/selector.ts';
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from '#api/types/authorization-v1.ts';
import type { FieldSelectorRequirement } from '#api/types/meta-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { Access } from '../authorization/authorizer.ts';

export interface Question {
  readonly access: Access;
  /** What of the question could not be read, so that the answer is about more than was asked. */
  readonly ignored: readonly string[];
}

/** @param namespace of the URL, for a review in a namespace: only what is in it may be asked about */
export function validateQuestion(
  spec: SelfSubjectAccessReviewSpec = {},
  metadata: KubeObject['metadata'],
  namespace?: string,
): readonly FieldProblem[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const shown = path === undefined ? undefined : { Path: path.path ?? '', Verb: path.verb ?? '' }; // upstream prints its internal type
  const problems: FieldProblem[] = [];
  if (resource !== undefined && path !== undefined) {
    problems.push(invalid('spec.nonResourceAttributes', shown, 'cannot be specified in combination with resourceAttributes'));
  }
  if (resource === undefined && path === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    problems.push(invalid('spec.resourceAttributes', undefined, detail));
  }
  problems.push(...validateSelector(resource?.fieldSelector, 'spec.resourceAttributes.fieldSelector'));
  problems.push(...validateSelector(resource?.labelSelector, 'spec.resourceAttributes.labelSelector'));
  problems.push(...validateNoMetadata(metadata, namespace));
  if (namespace === undefined) return problems;
  const asked = resource?.namespace ?? '';
  if (resource !== undefined && asked !== namespace) {
    problems.push(invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  if (path !== undefined) problems.push(invalid('spec.nonResourceAttributes', shown, 'disallowed on this kind of request'));
  return problems;
}

export function validateSubject({ user = '', groups = [] }: SubjectAccessReviewSpec = {}): readonly FieldProblem[] {
  return user === '' && groups.length === 0 ? [invalid('spec.user', user, 'at least one of user or group must be specified')] : [];
}

/** @param spec one that passed `validateQuestion` */
export function questionOf({ resourceAttributes: resource, nonResourceAttributes: path }: SelfSubjectAccessReviewSpec = {}): Question {
  if (resource === undefined) return { access: { kind: 'path', verb: path?.verb ?? '', path: path?.path ?? '' }, ignored: [] };
  const { verb = '', group = '', subresource = '', namespace = '', name = '', resource: plural = '' } = resource;
  const { fields, problem } = readFields(resource.fieldSelector);
  const access = {
    kind: 'resource',
    verb,
    group,
    resource: plural,
    subresource,
    namespace,
    name,
    ...(fields.length === 0 ? {} : { fields }),
  } as const;
  const ignored = [problem, labelProblem(resource.labelSelector)].filter((text) => text !== undefined);
  return { access, ignored };
}

function validateSelector(selector: FieldSelectorAttributes | LabelSelectorAttributes | undefined, field: string): readonly FieldProblem[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const problems: FieldProblem[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    problems.push(invalid(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements')); // upstream's words
  }
  if (rawSelector === '' && requirements.length === 0) {
    problems.push(required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`));
  }
  return [...problems, ...requirements.flatMap((requirement, index) => validateRequirement(requirement, `${field}.requirements[${index}]`))];
}

/** Operators that this server does not know may come with a newer client: they are ignored, not refused. */
function validateRequirement({ key = '', operator, values = [] }: FieldSelectorRequirement, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = key === '' ? [required(`${field}.key`, 'must be specified')] : [];
  const isIn = operator === 'In' || operator === 'NotIn';
  const isThere = operator === 'Exists' || operator === 'DoesNotExist';
  if (isIn && values.length === 0) problems.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  if (isThere && values.length > 0) {
    problems.push(forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  return problems;
}

function validateNoMetadata(metadata: KubeObject['metadata'], namespace: string | undefined): readonly FieldProblem[] {
  const { managedFields: _, creationTimestamp: _at, ...rest } = metadata;
  const given = Object.entries(rest).filter(
    ([key, value]) => value !== undefined && value !== '' && !(key === 'namespace' && namespace !== undefined),
  );
  if (given.length === 0) return [];
  return [invalid('metadata', Object.fromEntries(given), namespace === undefined ? 'must be empty' : 'must be empty except for namespace')];
}

function readFields(selector: FieldSelectorAttributes | undefined): {
  readonly fields: readonly FieldRequirement[];
  readonly problem: string | undefined;
} {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  const raw = rawSelector === '' ? [] : parsed(() => parseFieldSelector(rawSelector).requirements);
  const read = requirements.map(({ key, operator, values = [] }): FieldRequirement | undefined => {
    const [value] = values;
    if (value === undefined || values.length > 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
    return { field: key, operator: operator === 'In' ? '=' : '!=', value };
  });
  const fields = [...(raw ?? []), ...read.filter((one) => one !== undefined)];
  const isWhole = raw !== undefined && !read.includes(undefined);
  return { fields, problem: isWhole ? undefined : ignoredText('fieldSelector', fields.length > 0) };
}

/** No authorizer looks at labels; who asks is told when they could not be read. */
function labelProblem(selector: LabelSelectorAttributes | undefined): string | undefined {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  const raw = rawSelector === '' ? [] : parsed(() => parseLabelRequirements(rawSelector));
  const read = requirements.map((requirement) => parsed(() => labelSelectorMatcher({ matchExpressions: [requirement] }).requirements));
  if (raw !== undefined && !read.includes(undefined)) return undefined;
  return ignoredText(
    'labelSelector',
    read.some((one) => one !== undefined),
  );
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}

function ignoredText(which: string, isInPart: boolean): string {
  return `spec.resourceAttributes.${which} ${isInPart ? 'partially ' : ''}ignored due to parse error`;
}
