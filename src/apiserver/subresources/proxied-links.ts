/** Where the links of a page lead that is seen through a proxy. */
export interface LinkBase {
  /** What stands before the backend's paths: `/api/v1/namespaces/default/pods/web/proxy` */
  readonly prefix: string;
  /** Names of the backend, of this server as the client knows it. */
  readonly hosts: readonly string[];
}

/** Attributes that hold links, by element: upstream's list. */
const attributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['formaction', 'src', 'usemap'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

const tag = /<([a-zA-Z]+)\b((?:[^<>"']|"[^"]*"|'[^']*')*)>/g;
const attribute = /(\s)([a-zA-Z]+)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** A page whose absolute links lead through the proxy. */
export function rewriteLinks(html: string, base: LinkBase): string {
  return html.replaceAll(tag, (whole: string, element: string, rest: string) => {
    const names = attributes[element.toLowerCase()];
    if (names === undefined) return whole;
    const rewritten = rest.replaceAll(attribute, (pair: string, space: string, name: string, equals: string, quoted: string) => {
      if (!names.includes(name.toLowerCase())) return pair;
      const mark = quoted.slice(0, 1);
      return `${space}${name}${equals}${mark}${rewriteLocation(quoted.slice(1, -1), base)}${mark}`;
    });
    return `<${element}${rewritten}>`;
  });
}

/** A link to the backend leads through the proxy; relative ones, and those to others, are good as they are. */
export function rewriteLocation(link: string, { prefix, hosts }: LinkBase): string {
  const absolute = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)(.*)$/i.exec(link);
  if (absolute !== null && !hosts.includes(absolute[1] ?? '')) return link;
  const path = absolute === null ? link : absolute[2] === '' ? '/' : (absolute[2] ?? '/');
  if (!path.startsWith('/')) return link;
  return path.startsWith(`${prefix}/`) || path === prefix ? path : `${prefix}${path}`;
}
