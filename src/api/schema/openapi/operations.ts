import { apiVersionOf, type Kind, type Subresource, type Verb } from '../../kind.ts';
import type { MessageSchema } from '../message-schema.ts';
import type { GroupVersionKind } from './definitions.ts';

/** What is described: a kind, or something that is only ever sent. */
export type DescribedKind = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'scope' | 'verbs' | 'subresources' | 'answersDeleteWithObject'> & {
  readonly schema: MessageSchema;
};

/** What one method on one path does; both dialects are printed from it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly operationId: string;
  /** `x-kubernetes-action`. */
  readonly action: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'connect' | 'watch' | 'watchlist';
  readonly kind: GroupVersionKind;
  /** Name of the message that is sent; absent for none. */
  readonly body: string | undefined;
  /** Name of the message that is answered; undefined: text or a stream. */
  readonly answer: string | undefined;
  readonly query: readonly QueryParameter[];
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
}

export interface PathItem {
  readonly path: string;
  /** Names of `{name}` and `{namespace}` in the path. */
  readonly pathParameters: readonly string[];
  readonly operations: readonly Operation[];
}

/** Every path of a kind, with what can be done there. */
export function pathsOf(kind: DescribedKind): readonly PathItem[] {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${apiVersionOf(kind)}`;
  const isNamespaced = kind.scope === 'Namespaced';
  const base = isNamespaced ? `${root}/namespaces/{namespace}/${kind.plural}` : `${root}/${kind.plural}`;
  const outer = isNamespaced ? ['namespace'] : [];
  const inner = ['name', ...outer];
  const everywhere = isNamespaced
    ? [{ path: `${root}/${kind.plural}`, pathParameters: [], operations: operationsOf(kind, collectionVerbs.slice(0, 1), '', 'ForAllNamespaces') }]
    : [];
  return [
    ...everywhere,
    { path: base, pathParameters: outer, operations: operationsOf(kind, collectionVerbs, '', '') },
    { path: `${base}/{name}`, pathParameters: inner, operations: operationsOf(kind, itemVerbs, '', '') },
    ...kind.subresources.flatMap((subresource) => {
      const operations = subresourceOperations(kind, subresource);
      return operations.length > 0 ? [{ path: `${base}/{name}/${subresource}`, pathParameters: inner, operations }] : [];
    }),
    ...oldWatchPaths(kind, root),
  ];
}

/** `/watch/…`: how a watch was asked for once. */
function oldWatchPaths(kind: DescribedKind, root: string): readonly PathItem[] {
  if (!kind.verbs.includes('watch')) return [];
  const watching = (action: 'watch' | 'watchlist', suffix: string): readonly Operation[] => {
    const id = operationId('watch', kind, '', suffix);
    return [{ method: 'get', operationId: id, action, kind: gvkOf(kind), body: undefined, answer: 'meta.v1.WatchEvent', query: lists }];
  };
  const everywhere = `${root}/watch/${kind.plural}`;
  if (kind.scope === 'Cluster') {
    return [
      { path: everywhere, pathParameters: [], operations: watching('watchlist', 'List') },
      { path: `${everywhere}/{name}`, pathParameters: ['name'], operations: watching('watch', '') },
    ];
  }
  const within = `${root}/watch/namespaces/{namespace}/${kind.plural}`;
  return [
    { path: everywhere, pathParameters: [], operations: watching('watchlist', 'ListForAllNamespaces') },
    { path: within, pathParameters: ['namespace'], operations: watching('watchlist', 'NamespacedList') },
    { path: `${within}/{name}`, pathParameters: ['name', 'namespace'], operations: watching('watch', '') },
  ];
}

interface VerbShape {
  readonly verb: Verb;
  readonly method: Operation['method'];
  readonly action: Operation['action'];
  readonly idPrefix: string;
}

const collectionVerbs: readonly VerbShape[] = [
  { verb: 'list', method: 'get', action: 'list', idPrefix: 'list' },
  { verb: 'create', method: 'post', action: 'post', idPrefix: 'create' },
  { verb: 'deletecollection', method: 'delete', action: 'deletecollection', idPrefix: 'deleteCollection' },
];

const itemVerbs: readonly VerbShape[] = [
  { verb: 'get', method: 'get', action: 'get', idPrefix: 'read' },
  { verb: 'update', method: 'put', action: 'put', idPrefix: 'replace' },
  { verb: 'patch', method: 'patch', action: 'patch', idPrefix: 'patch' },
  { verb: 'delete', method: 'delete', action: 'delete', idPrefix: 'delete' },
];

const text = (name: string): QueryParameter => ({ name, type: 'string' });
const writes: readonly QueryParameter[] = [text('dryRun'), text('fieldManager'), text('fieldValidation'), text('pretty')];
const deletes: readonly QueryParameter[] = [
  text('dryRun'),
  { name: 'gracePeriodSeconds', type: 'integer' },
  { name: 'orphanDependents', type: 'boolean' },
  text('propagationPolicy'),
  text('pretty'),
];
const lists: readonly QueryParameter[] = [
  { name: 'allowWatchBookmarks', type: 'boolean' },
  text('continue'),
  text('fieldSelector'),
  text('labelSelector'),
  { name: 'limit', type: 'integer' },
  text('pretty'),
  text('resourceVersion'),
  text('resourceVersionMatch'),
  { name: 'sendInitialEvents', type: 'boolean' },
  { name: 'timeoutSeconds', type: 'integer' },
  { name: 'watch', type: 'boolean' },
];

function operationsOf(kind: DescribedKind, verbs: readonly VerbShape[], subresource: string, suffix: string): readonly Operation[] {
  return verbs
    .filter(({ verb }) => subresource !== '' || kind.verbs.includes(verb))
    .map((shape) => ({
      method: shape.method,
      operationId: operationId(shape.idPrefix, kind, subresource, suffix),
      action: shape.action,
      kind: gvkOf(kind),
      body: bodyOf(kind, shape.action),
      answer: answerOf(kind, shape.action),
      query: queryOf(shape.action),
    }));
}

/** Bodies of subresources that are of another kind. */
const ownKinds: Partial<Record<Subresource, GroupVersionKind & { readonly message: string }>> = {
  binding: { group: '', version: 'v1', kind: 'Binding', message: 'core.v1.Binding' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', message: 'policy.v1.Eviction' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', message: 'authentication.v1.TokenRequest' },
};

const scaleKind: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const scaleMessage = 'autoscaling.v1.Scale';
const streams: Readonly<Partial<Record<Subresource, string>>> = { attach: 'AttachOptions', exec: 'ExecOptions', portforward: 'PortForwardOptions' };

function subresourceOperations(kind: DescribedKind, subresource: Subresource): readonly Operation[] {
  const own = ownKinds[subresource];
  if (own !== undefined) {
    const { message, ...gvk } = own;
    const id = operationId('create', kind, subresource, '');
    return [{ method: 'post', operationId: id, action: 'post', kind: gvk, body: message, answer: message, query: writes }];
  }
  switch (subresource) {
    case 'status':
    case 'resize':
    case 'ephemeralcontainers':
    case 'approval':
      return operationsOf(kind, itemVerbs.slice(0, 3), subresource, '');
    case 'scale':
      return operationsOf(kind, itemVerbs.slice(0, 3), subresource, '').map((operation) => ({
        ...operation,
        kind: scaleKind,
        body: operation.action === 'put' ? scaleMessage : operation.body,
        answer: scaleMessage,
      }));
    case 'finalize':
      return operationsOf(kind, itemVerbs.slice(1, 2), subresource, '');
    case 'log':
      return operationsOf(kind, itemVerbs.slice(0, 1), subresource, '').map((operation) => ({ ...operation, answer: undefined }));
    case 'attach':
    case 'exec':
    case 'portforward':
      return connections(kind, subresource, ['get', 'post'], `${kind.kind}${streams[subresource] ?? ''}`);
    case 'proxy':
      return connections(kind, subresource, ['get', 'post', 'put', 'patch', 'delete'], `${kind.kind}ProxyOptions`);
    default:
      return [];
  }
}

function connections(kind: DescribedKind, subresource: Subresource, methods: readonly Operation['method'][], options: string): readonly Operation[] {
  return methods.map((method) => ({
    method,
    operationId: operationId(`connect${capital(method)}`, kind, subresource, ''),
    action: 'connect',
    kind: { group: kind.group, version: kind.version, kind: options },
    body: undefined,
    answer: undefined,
    query: [],
  }));
}

function bodyOf(kind: DescribedKind, action: Operation['action']): string | undefined {
  if (action === 'post' || action === 'put') return kind.schema.name;
  if (action === 'patch') return patchMessage;
  return action === 'delete' || action === 'deletecollection' ? 'meta.v1.DeleteOptions' : undefined;
}

/** Any JSON; no message of ours has a definition by that name. */
export const patchMessage = 'meta.v1.Patch';

function answerOf(kind: DescribedKind, action: Operation['action']): string {
  if (action === 'list') return `${kind.schema.name}List`;
  if (action === 'deletecollection' || (action === 'delete' && !kind.answersDeleteWithObject)) return 'meta.v1.Status';
  return kind.schema.name;
}

function queryOf(action: Operation['action']): readonly QueryParameter[] {
  switch (action) {
    case 'post':
    case 'put':
      return writes;
    case 'patch':
      return [...writes, { name: 'force', type: 'boolean' }];
    case 'delete':
      return deletes;
    case 'list':
      return lists;
    case 'deletecollection':
      return [...deletes.filter(({ name }) => name !== 'pretty'), ...lists];
    default:
      return [text('pretty')];
  }
}

function gvkOf({ group, version, kind }: DescribedKind): GroupVersionKind {
  return { group, version, kind };
}

function operationId(prefix: string, kind: DescribedKind, subresource: string, suffix: string): string {
  const group = kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '');
  const scope = kind.scope === 'Namespaced' && suffix === '' ? 'Namespaced' : '';
  const within = suffix.startsWith('Namespaced') ? 'Namespaced' : scope;
  const after = suffix.replace(/^Namespaced/, '');
  return `${prefix}${capital(group)}${capital(kind.version)}${within}${kind.kind}${capital(subresource)}${after}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
