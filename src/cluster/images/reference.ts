import { InvalidInput } from '#base/errors.ts';

/** As docker reads a name: the first part is a registry when it has a dot or a port, or is `localhost`. @throws {InvalidInput} */
export function fullReference(name: string): string {
  if (!/^[a-z0-9]+([._:/-]+[a-zA-Z0-9_]+)*$/.test(name) || name.includes('//')) {
    throw new InvalidInput({
      message: `${JSON.stringify(name)} is not the name of an image`,
      hint: 'use a form such as demo:1 or localhost/team/demo:1',
    });
  }
  const [first = '', ...rest] = name.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const full = hasRegistry ? name : rest.length > 0 ? `docker.io/${name}` : `docker.io/library/${name}`;
  return /:[^/]+$/.test(full) ? full : `${full}:latest`;
}
