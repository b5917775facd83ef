export interface ResourcePath {
  /** `pods`, or `leases.coordination.k8s.io`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** Takes the path of an API request apart. */
export function parsePath(path: string): ResourcePath {
  const [root, ...rest] = path.slice(1).split('/').map(decodeURIComponent);
  const group = root === 'apis' ? rest[0] : '';
  const parts = rest.slice(root === 'apis' ? 2 : 1);
  const isOfNamespace = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status' && parts[2] !== 'finalize';
  const [plural = '', name, subresource = ''] = isOfNamespace ? parts.slice(2) : parts;
  return {
    resource: group === undefined || group === '' ? plural : `${plural}.${group}`,
    namespace: isOfNamespace ? parts[1] : undefined,
    name,
    subresource,
  };
}
