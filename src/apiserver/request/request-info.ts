import { quote } from '#api/quote.ts';
import { type FieldRequirement, parseFieldSelector } from '#api/selector.ts';
import { badRequest } from '#api/status.ts';
import { InvalidInput } from '#base/errors.ts';

/** What a URL and a method mean: the same words for authorization, routing and admission. */
export type RequestInfo = ResourceRequestInfo | PathRequestInfo;

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequestInfo {
  readonly kind: 'resource';
  readonly verb: Verb;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** Plural. */
  readonly resource: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** '' in cluster scope and across all namespaces. */
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  /** What follows the subresource, without a leading slash; undefined when the URL ends with the subresource. */
  readonly rest: string | undefined;
  /** Of a collection with a field selector: what is asked of its objects. */
  readonly fields?: readonly FieldRequirement[];
}

export interface PathRequestInfo {
  readonly kind: 'path';
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** The sub-paths of a namespace's name that belong to the Namespace itself; anything else is a resource inside it. */
const namespaceSubresources: readonly string[] = ['status', 'finalize'];

/** @throws a 400 `StatusError` when the path has a broken escape: it names nothing */
export function requestInfoOf(method: string, path: string, query: URLSearchParams): RequestInfo {
  const other: PathRequestInfo = { kind: 'path', verb: method.toLowerCase(), path };
  const parts = segmentsOf(path);
  const [root = '', ...afterRoot] = parts;
  if (root !== 'api' && root !== 'apis') return other;
  if (parts.length < 3) return other;
  const group = root === 'api' ? '' : (afterRoot.shift() ?? '');
  const version = afterRoot.shift() ?? '';
  const isOldWatch = afterRoot[0] === 'watch';
  if (isOldWatch) afterRoot.shift();
  const target = targetOf(afterRoot);
  if (target === undefined) return other;
  const verb = isOldWatch ? 'watch' : verbOf(method, target.name !== '', query);
  const info = { kind: 'resource', verb, path, group, version, ...target } as const;
  const selector = query.get('fieldSelector');
  if (selector === null || !collectionVerbs.has(verb)) return info;
  const fields = fieldsOf(selector);
  return { ...info, name: target.name === '' ? exactNameOf(selector) : target.name, ...(fields === undefined ? {} : { fields }) };
}

type Target = Pick<ResourceRequestInfo, 'resource' | 'subresource' | 'namespace' | 'name' | 'rest'>;

const collectionVerbs: ReadonlySet<Verb> = new Set(['list', 'watch', 'deletecollection']);

function segmentsOf(path: string): string[] {
  try {
    const parts = path.split('/').slice(1);
    if (parts.at(-1) === '' && parts.length > 1 && !parts.includes('proxy')) parts.pop();
    return parts.map(decodeURIComponent);
  } catch {
    throw badRequest(`invalid URL escape in ${quote(path)}`);
  }
}

function targetOf(parts: readonly string[]): Target | undefined {
  const [first = '', second = '', third = ''] = parts;
  if (first === '') return undefined;
  const isInNamespace = first === 'namespaces' && third !== '' && !namespaceSubresources.includes(third);
  const [resource = '', name = '', subresource = '', ...rest] = isInNamespace ? parts.slice(2) : parts;
  const ofNamespace = first === 'namespaces' && !isInNamespace;
  return {
    resource,
    subresource,
    namespace: isInNamespace || ofNamespace ? second : '',
    name,
    rest: rest.length === 0 ? undefined : rest.map(encodeURIComponent).join('/'),
  };
}

function verbOf(method: string, isNamed: boolean, query: URLSearchParams): Verb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      if (isNamed) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
  }
}

function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

/** A collection request for one name counts as a request for that name, so that rules with names can allow it. */
function exactNameOf(fieldSelector: string): string {
  const match = /(?:^|,)metadata\.name==?([^,=!\\/%]+)(?:,|$)/.exec(fieldSelector);
  const name = match?.[1] ?? '';
  return name === '.' || name === '..' ? '' : name;
}

/** @returns undefined for a selector that cannot be read: whoever carries the request out says so */
function fieldsOf(selector: string): readonly FieldRequirement[] | undefined {
  try {
    return parseFieldSelector(selector).requirements;
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}
