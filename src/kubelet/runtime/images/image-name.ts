import { AppError } from '#base/errors.ts';

/** No image can have that name. The message is upstream's reason. */
export class BadImageName extends AppError {
  readonly code = 'BAD_IMAGE_NAME';
  readonly retry = 'never';
}

export interface ImageName {
  /** As the runtime is asked for it: with the tag `latest` where neither tag nor digest is given. Never made longer than that. */
  readonly tagged: string;
  /** Registry and path in full, without tag and digest: `docker.io/library/busybox`. */
  readonly repository: string;
}

const domain = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?';
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const tag = '[\\w][\\w.-]{0,127}';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const reference = new RegExp(`^(?<name>${domain}/${component}(?:/${component})*)(?::(?<tag>${tag}))?(?:@(?<digest>${digest}))?$`);

/** Source: the grammar of `distribution/reference`, which runtimes and registries share. @throws {BadImageName} */
export function parseImageName(image: string): ImageName {
  if (/^[a-f0-9]{64}$/.test(image)) throw bad(image, `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  const full = withRegistry(image);
  const path = full.slice(full.indexOf('/') + 1).split(':')[0] ?? '';
  if (path !== path.toLowerCase()) throw bad(image, `invalid reference format: repository name (${path}) must be lowercase`);
  const { groups } = reference.exec(full) ?? {};
  if (groups?.['name'] === undefined) throw bad(image, 'invalid reference format');
  const isBare = groups['tag'] === undefined && groups['digest'] === undefined;
  return { tagged: isBare ? `${image}:latest` : image, repository: groups['name'] };
}

/** A name without a registry is one of Docker Hub. */
function withRegistry(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const host = first === 'index.docker.io' ? 'docker.io' : first;
  const path = hasRegistry ? rest.join('/') : image;
  const isOfficial = (!hasRegistry || host === 'docker.io') && !path.includes('/');
  return `${hasRegistry ? host : 'docker.io'}/${isOfficial ? 'library/' : ''}${path}`;
}

function bad(image: string, why: string): BadImageName {
  return new BadImageName({ message: `couldn't parse image name ${JSON.stringify(image)}: ${why}`, hint: 'check the image name' });
}
