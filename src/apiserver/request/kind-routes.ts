import { apiVersionOf, type Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { badRequest } from '#api/status.ts';
import { scaleHandlers } from '../subresources/scale.ts';
import { subresourceHandlers } from '../subresources/subresource-handlers.ts';
import { unstoredHandlers } from '../unstored/unstored-handlers.ts';
import { create } from '../verbs/create.ts';
import { deleteOne } from '../verbs/delete.ts';
import { deleteCollection } from '../verbs/delete-collection.ts';
import { get } from '../verbs/get.ts';
import { list } from '../verbs/list.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { watch } from '../verbs/watch.ts';
import type { KindHandler, ServerContext } from './context.ts';
import { answerText, withWarnings } from './encode.ts';
import type { ResourceRequestInfo, Verb } from './request-info.ts';
import type { ApiResponse, RoutedRequest } from './route.ts';

const ofObjects: Readonly<Record<Verb, KindHandler>> = {
  create,
  get,
  list,
  watch,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};
const ofStatus: Readonly<Partial<Record<Verb, KindHandler>>> = { get, update, patch };

/** The kinds of a server by their URLs. */
export class KindRoutes {
  readonly #kinds: ReadonlyMap<string, Kind>;

  constructor(kinds: readonly Kind[]) {
    this.#kinds = new Map(kinds.map((kind) => [`${apiVersionOf(kind)}/${kind.plural}`, kind]));
  }

  find({ group, version, resource }: ResourceRequestInfo): Kind | undefined {
    return this.#kinds.get(`${apiVersionOf({ group, version })}/${resource}`);
  }

  async serve(context: ServerContext, request: RoutedRequest & { readonly info: ResourceRequestInfo }, signal: AbortSignal): Promise<ApiResponse> {
    const { info } = request;
    const kind = this.find(info);
    if (kind === undefined || isMisplaced(kind, info)) return answerText(404, '404 page not found\n');
    const problem = pathSegmentProblem(info.name);
    if (problem !== undefined) throw badRequest(`Name parameter invalid: ${quote(info.name)}: ${problem}`);
    const handlers = handlersFor(kind, info.subresource);
    if (handlers === undefined) return answerText(404, '404 page not found\n');
    const handler = handlers[info.verb];
    if (handler === undefined || isNameless(info) || !isMethodOf(info, request.method)) return answerText(405, '405 method not allowed\n');
    const response = await handler(context, { ...request, info, kind }, signal);
    return kind.deprecation === undefined ? response : withWarnings(response, [kind.deprecation]);
  }
}

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Every unknown method is a read for authorization; only proxies pass it on. */
function isMethodOf({ verb, subresource }: ResourceRequestInfo, method: string): boolean {
  return subresource === 'proxy' || !readingVerbs.has(verb) || method === 'GET' || method === 'HEAD';
}

/** A name that is no segment of a path would be another object's key. */
function pathSegmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  return ['/', '%'].flatMap((character) => (name.includes(character) ? [`may not contain '${character}'`] : []))[0];
}

/** One is created in its collection, and changed by its name. */
function isNameless({ verb, name, subresource }: ResourceRequestInfo): boolean {
  if (verb === 'create' && subresource === '') return name !== '';
  return (verb === 'update' || verb === 'patch') && name === '';
}

function handlersFor(kind: Kind, subresource: string): Readonly<Partial<Record<Verb, KindHandler>>> | undefined {
  if (subresource === '') {
    const unstored = kind.group === '' ? unstoredHandlers[kind.plural] : undefined;
    return unstored ?? Object.fromEntries(kind.verbs.map((verb) => [verb, ofObjects[verb]]));
  }
  if (!kind.subresources.some((name) => name === subresource)) return undefined;
  if (subresource === 'scale') return scaleHandlers;
  const isPartial = subresource === 'status' || Object.hasOwn(kind.partialUpdates, subresource);
  return subresourceHandlers[`${kind.plural}/${subresource}`] ?? (isPartial ? ofStatus : undefined);
}

/** Objects in a namespace are reached through it, others never are; and only single ones have subresources and a `rest`. */
function isMisplaced(kind: Kind, { namespace, name, verb, rest }: ResourceRequestInfo): boolean {
  if (rest !== undefined) return true;
  const isOfCollection = verb === 'list' || verb === 'watch';
  if (kind.scope === 'Namespaced') return namespace === '' && !isOfCollection && (name !== '' || verb === 'create' || verb === 'deletecollection');
  return namespace !== '' && kind.plural !== 'namespaces';
}
