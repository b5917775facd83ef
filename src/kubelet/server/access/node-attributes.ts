/** What a request to the kubelet is in the words of the API: a verb on parts of its Node. */
export interface NodeAttributes {
  readonly verb: string;
  /** One of these is enough; tried in order. */
  readonly subresources: readonly string[];
}

/** @param path as sent, without the query */
export function nodeAttributes(method: string, path: string): NodeAttributes {
  return { verb: verbs[method] ?? '', subresources: rules.find(([prefix]) => isAtOrBelow(path, prefix))?.[1] ?? ['proxy'] };
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

const rules: readonly (readonly [prefix: string, subresources: readonly string[]])[] = [
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
  ['/checkpoint', ['checkpoint']],
  ['/statusz', ['statusz']],
  ['/flagz', ['configz']],
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
];

function isAtOrBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
