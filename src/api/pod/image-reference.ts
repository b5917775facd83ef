/** What an image is called: `registry:5000/path/name:tag@sha256:…`. */
export interface ImageParts {
  /** Registry and path. */
  readonly repository: string;
  /** `latest` where neither tag nor digest is given, '' beside a digest. */
  readonly tag: string;
  /** `sha256:…`, or ''. */
  readonly digest: string;
}

export function imageParts(image: string): ImageParts {
  const at = image.indexOf('@');
  const digest = at < 0 ? '' : image.slice(at + 1);
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.lastIndexOf(':');
  // A colon before a slash belongs to the port of the registry.
  const hasTag = colon > named.lastIndexOf('/');
  const tag = hasTag ? named.slice(colon + 1) : '';
  return { repository: hasTag ? named.slice(0, colon) : named, tag: tag === '' && digest === '' ? 'latest' : tag, digest };
}

/** The pull policy of a container that names none. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return imageParts(image).tag === 'latest' ? 'Always' : 'IfNotPresent';
}
