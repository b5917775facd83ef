import { parse } from 'yaml';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { HttpTransportOptions } from './transport.ts';

/**
 * How to reach the server of a kubeconfig's current context.
 *
 * @param readFile reads the files that the kubeconfig names instead of holding their content; without it such an entry is an error
 * @throws {InvalidInput} that names the part that is missing or wrong
 */
export function readKubeconfig(text: string, readFile?: (path: string) => string): HttpTransportOptions {
  const root = asRecord(parseYaml(text), 'the kubeconfig');
  const contextName = stringAt(root, 'current-context');
  if (contextName === undefined) throw wrong('it has no current-context');
  const context = named(root, 'contexts', 'context', contextName);
  const clusterName = stringAt(context, 'cluster');
  if (clusterName === undefined) throw wrong(`context ${JSON.stringify(contextName)} names no cluster`);
  const cluster = named(root, 'clusters', 'cluster', clusterName);
  const server = stringAt(cluster, 'server');
  if (server === undefined) throw wrong(`cluster ${JSON.stringify(clusterName)} has no server`);
  const userName = stringAt(context, 'user');
  const user = userName === undefined ? {} : named(root, 'users', 'user', userName);
  const content = (part: Fields, name: string): string | undefined => inlineOrFile(part, name, readFile);
  return {
    server,
    caPem: content(cluster, 'certificate-authority'),
    certPem: content(user, 'client-certificate'),
    keyPem: content(user, 'client-key'),
    token: stringAt(user, 'token') ?? (stringAt(user, 'tokenFile') === undefined ? undefined : fileAt(user, 'tokenFile', readFile)?.trim()),
    serverName: stringAt(cluster, 'tls-server-name'),
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] === true,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new InvalidInput({ message: `the kubeconfig is not YAML: ${messageOf(cause)}`, cause });
  }
}

function named(root: Fields, list: string, field: string, name: string): Fields {
  const entries = root[list];
  const entry = Array.isArray(entries) ? entries.find((one: unknown) => isRecord(one) && one['name'] === name) : undefined;
  if (entry === undefined) throw wrong(`${list} has no entry named ${JSON.stringify(name)}`);
  return asRecord((entry as Fields)[field], `${field} ${JSON.stringify(name)}`);
}

function inlineOrFile(part: Fields, name: string, readFile: ((path: string) => string) | undefined): string | undefined {
  const inline = stringAt(part, `${name}-data`);
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  return fileAt(part, name, readFile);
}

function fileAt(part: Fields, name: string, readFile: ((path: string) => string) | undefined): string | undefined {
  const path = stringAt(part, name);
  if (path === undefined) return undefined;
  if (readFile === undefined) throw wrong(`${name} is a file, ${path}, and files are not read here`);
  return readFile(path);
}

function stringAt(part: Fields, name: string): string | undefined {
  const value = part[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw wrong(`${name} is not a string`);
  return value;
}

function asRecord(value: unknown, what: string): Fields {
  if (!isRecord(value)) throw wrong(`${what} is not a mapping`);
  return value;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(what: string): InvalidInput {
  return new InvalidInput({ message: `the kubeconfig cannot be used: ${what}` });
}
