import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parse } from 'yaml';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { CredentialProviders } from '#kubelet/kubelet-config.ts';
import { type ProviderDocument, parseCredentialProviders } from '#kubelet/runtime/images/credential-providers/provider-config.ts';

/**
 * Reads a `CredentialProviderConfig`, or a folder of them, and looks for the plugins that it names.
 *
 * @throws {InvalidInput} in upstream's words when a file is wrong, or a plugin is not there
 */
export function readCredentialProviders(configPath: string, directory: string): CredentialProviders {
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) throw wrong(`plugin binary directory ${directory} did not exist`);
  const providers = parseCredentialProviders(filesOf(configPath).map(documentOf));
  for (const { name } of providers) {
    try {
      accessSync(join(directory, name), constants.X_OK);
    } catch (cause) {
      throw wrong(`error inspecting binary executable ${join(directory, name)}: ${messageOf(cause)}`, cause);
    }
  }
  return { directory, providers };
}

function filesOf(configPath: string): readonly string[] {
  const facts = statSync(configPath, { throwIfNoEntry: false });
  if (facts === undefined) throw wrong(`unable to access path ${JSON.stringify(configPath)}: no such file or directory`);
  if (!facts.isDirectory()) return [configPath];
  const names = readdirSync(configPath).filter((name) => ['.json', '.yaml', '.yml'].includes(extname(name)));
  if (names.length === 0) throw wrong(`no configuration files found in directory ${JSON.stringify(configPath)}`);
  return names.sort().map((name) => join(configPath, name));
}

function documentOf(source: string): ProviderDocument {
  try {
    return { source, value: parse(readFileSync(source, 'utf8')) };
  } catch (cause) {
    throw wrong(`error decoding config ${JSON.stringify(source)}: ${messageOf(cause)}`, cause);
  }
}

function wrong(message: string, cause?: unknown): InvalidInput {
  const hint = 'see https://kubernetes.io/docs/tasks/administer-cluster/kubelet-credential-provider/';
  return new InvalidInput({ message, hint, ...(cause === undefined ? {} : { cause }) });
}
