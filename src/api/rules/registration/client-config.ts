import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { portNumberProblems, subdomainProblems } from '../names.ts';

interface ClientConfig {
  readonly url?: string | undefined;
  readonly service?: ServiceReference | undefined;
}

interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

/** How a webhook is reached. */
export function validateClientConfig({ url, service }: ClientConfig, field: string): readonly FieldProblem[] {
  if ((url === undefined) === (service === undefined)) return [required(field, 'exactly one of url or service is required')];
  if (url !== undefined) return validateUrl(url, `${field}.url`);
  return service === undefined ? [] : validateService(service, `${field}.service`);
}

const urlForm = '; desired format: https://host[/path]';

function validateUrl(text: string, field: string): readonly FieldProblem[] {
  const [, scheme = '', user = '', host = '', query = '', fragment = ''] =
    /^(?:([a-zA-Z][-+.a-zA-Z0-9]*):)?(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  return [
    ...(scheme.toLowerCase() === 'https' ? [] : [invalid(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${urlForm}`)]),
    ...(host === '' ? [invalid(field, host, `host must be specified${urlForm}`)] : []),
    ...(user === '' ? [] : [invalid(field, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(field, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(field, query, 'query parameters are not permitted in the URL')]),
  ];
}

function validateService({ name = '', namespace = '', path, port = 0 }: ServiceReference, field: string): readonly FieldProblem[] {
  const portProblems = portNumberProblems(port);
  return [
    ...(name === '' ? [required(`${field}.name`, 'service name is required')] : []),
    ...(namespace === '' ? [required(`${field}.namespace`, 'service namespace is required')] : []),
    ...(portProblems.length === 0 ? [] : [invalid(`${field}.port`, port, `port is not valid: ${portProblems.join(',')}`)]),
    ...(path === undefined ? [] : validatePath(path, `${field}.path`)),
  ];
}

function validatePath(path: string, field: string): readonly FieldProblem[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')];
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(path.startsWith('/') ? [] : [invalid(field, path, "must start with a '/'")]),
    ...segments.flatMap((segment, index) => {
      if (segment === '') return [invalid(field, path, `segment[${index}] may not be empty`)];
      return subdomainProblems(segment).map((text) => invalid(field, path, `segment[${index}]: ${text}`));
    }),
  ];
}
