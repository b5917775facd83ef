import type { ConfigMap, Container, EnvVar, FileKeySelector, Pod, Secret } from '#api/types/core-v1.ts';
import { AppError, type AppErrorInit, InvalidInput } from '#base/errors.ts';
import type { FilesPort } from '../ports/files.ts';
import { PathEscapes } from '../ports/host-errors.ts';
import type { ObjectRefKey, ObjectsPort } from '../ports/objects.ts';
import type { MountedVolume } from '../ports/volumes.ts';
import { fieldValue } from './downward-fields.ts';
import { resourceValue } from './downward-resources.ts';
import { parseEnvFile } from './env-file.ts';
import { expand } from './expansion.ts';

/** The container's configuration cannot be made as things are. */
export class ContainerConfigError extends AppError {
  readonly code = 'CONTAINER_CONFIG';
  readonly retry = 'backoff';
  /** The object whose change may mend it. */
  readonly wakeOn: ObjectRefKey | undefined;

  constructor(init: AppErrorInit & { readonly wakeOn?: ObjectRefKey | undefined }) {
    super(init);
    this.wakeOn = init.wakeOn;
  }
}

export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  /** What a limit that is not set counts as. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Variables that tell of Services. */
  readonly services: ReadonlyMap<string, string>;
}

/** Objects that the environment reads; `undefined`: not there. */
export interface NamedObjects {
  readonly configMaps: ReadonlyMap<string, ConfigMap | undefined>;
  readonly secrets: ReadonlyMap<string, Secret | undefined>;
  /** By `envFileKey`; only those that could be read. */
  readonly envFiles: ReadonlyMap<string, EnvFile>;
}

export interface EnvFile {
  readonly path: string;
  readonly variables: ReadonlyMap<string, string>;
}

export interface NamedObjectsSource {
  readonly objects: ObjectsPort;
  readonly files: Pick<FilesPort, 'readBelow'>;
}

/** Reads every object and file that the container's environment names, all at once. */
export async function readNamedObjects(
  pod: Pod,
  container: Container,
  volumes: ReadonlyMap<string, Pick<MountedVolume, 'hostPath'>>,
  { objects, files }: NamedObjectsSource,
  signal: AbortSignal,
): Promise<NamedObjects> {
  const configMapNames = new Set<string>();
  const secretNames = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name !== undefined) configMapNames.add(configMapRef.name);
    if (secretRef?.name !== undefined) secretNames.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name !== undefined) configMapNames.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name !== undefined) secretNames.add(valueFrom.secretKeyRef.name);
  }
  const namespace = pod.metadata.namespace;
  const [configMaps, secrets, envFiles] = await Promise.all([
    Promise.all([...configMapNames].map(async (name) => [name, await objects.configMap(namespace, name, signal)] as const)),
    Promise.all([...secretNames].map(async (name) => [name, await objects.secret(namespace, name, signal)] as const)),
    readEnvFiles(container, volumes, files, signal),
  ]);
  return { configMaps: new Map(configMaps), secrets: new Map(secrets), envFiles };
}

async function readEnvFiles(
  container: Container,
  volumes: ReadonlyMap<string, Pick<MountedVolume, 'hostPath'>>,
  files: Pick<FilesPort, 'readBelow'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EnvFile>> {
  const found = new Map<string, EnvFile>();
  for (const { valueFrom } of container.env ?? []) {
    const ref = valueFrom?.fileKeyRef;
    if (ref === undefined || found.has(envFileKey(ref))) continue;
    const volume = volumes.get(ref.volumeName);
    if (volume === undefined) {
      throw new ContainerConfigError({ message: `cannot find the volume ${JSON.stringify(ref.volumeName)} referenced by FileKeyRef` });
    }
    found.set(envFileKey(ref), await readEnvFile(volume.hostPath, ref.path, files, signal));
  }
  return found;
}

async function readEnvFile(root: string, path: string, files: Pick<FilesPort, 'readBelow'>, signal: AbortSignal): Promise<EnvFile> {
  try {
    const bytes = await files.readBelow(root, path, signal);
    if (bytes !== undefined) return { path: `${root}/${path}`, variables: parseEnvFile(new TextDecoder().decode(bytes)) };
  } catch (error) {
    if (!(error instanceof InvalidInput) && !(error instanceof PathEscapes)) throw error;
  }
  const hint = `file ${path} of the volume must be there, with a line NAME='value' for each variable`;
  throw new ContainerConfigError({ message: "couldn't parse env file", hint });
}

function envFileKey({ volumeName, path }: FileKeySelector): string {
  return `${volumeName}/${path}`;
}

/**
 * The container's environment, in the order of its declaration, then what tells of Services.
 *
 * @throws {ContainerConfigError} when an object or key is missing and not optional
 */
export function environment(input: EnvironmentInput, named: NamedObjects): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  for (const source of input.container.envFrom ?? []) {
    const entries =
      source.configMapRef !== undefined
        ? configMapEntries(input.pod, source.configMapRef, named)
        : source.secretRef !== undefined
          ? secretEntries(input.pod, source.secretRef, named)
          : [];
    for (const [key, value] of entries) result.set(`${source.prefix ?? ''}${key}`, value);
  }
  for (const variable of input.container.env ?? []) {
    const value = variableValue(variable, input, named, result);
    if (value !== undefined) result.set(variable.name, value);
  }
  for (const [name, value] of input.services) if (!result.has(name)) result.set(name, value);
  return result;
}

function variableValue(variable: EnvVar, input: EnvironmentInput, named: NamedObjects, before: ReadonlyMap<string, string>): string | undefined {
  const from = variable.valueFrom;
  if (from === undefined) return expand(variable.value ?? '', (name) => before.get(name) ?? input.services.get(name));
  if (from.fieldRef !== undefined) return fieldOf(from.fieldRef.fieldPath, input);
  if (from.resourceFieldRef !== undefined) return resourceValue(from.resourceFieldRef, input.pod, input.container, input.allocatable);
  if (from.configMapKeyRef !== undefined) return configMapKey(input.pod, from.configMapKeyRef, named);
  if (from.secretKeyRef !== undefined) return secretKey(input.pod, from.secretKeyRef, named);
  if (from.fileKeyRef !== undefined) return fileKey(from.fileKeyRef, named);
  return undefined;
}

function fieldOf(path: string, input: EnvironmentInput): string {
  const value = fieldValue(path, input.pod, input.podIPs, input.hostIPs);
  if (value === undefined) throw new ContainerConfigError({ message: `unsupported fieldPath: ${path}` });
  return value;
}

type Optional = { readonly name?: string | undefined; readonly optional?: boolean | undefined };

function configMapEntries(pod: Pod, ref: Optional, named: NamedObjects): readonly (readonly [string, string])[] {
  const configMap = named.configMaps.get(ref.name ?? '');
  if (configMap !== undefined) return Object.entries(configMap.data ?? {});
  if (ref.optional === true) return [];
  throw missing('configmap', pod, ref.name ?? '');
}

function secretEntries(pod: Pod, ref: Optional, named: NamedObjects): readonly (readonly [string, string])[] {
  const secret = named.secrets.get(ref.name ?? '');
  if (secret !== undefined) return Object.entries(secret.data ?? {}).map(([key, value]) => [key, decoded(value)] as const);
  if (ref.optional === true) return [];
  throw missing('secret', pod, ref.name ?? '');
}

function configMapKey(pod: Pod, ref: Optional & { readonly key: string }, named: NamedObjects): string | undefined {
  const name = ref.name ?? '';
  const configMap = named.configMaps.get(name);
  const value = configMap?.data?.[ref.key];
  if (value !== undefined || ref.optional === true) return value;
  if (configMap === undefined) throw missing('configmap', pod, name);
  throw missingKey('ConfigMap', 'configmap', pod, name, ref.key);
}

function secretKey(pod: Pod, ref: Optional & { readonly key: string }, named: NamedObjects): string | undefined {
  const name = ref.name ?? '';
  const secret = named.secrets.get(name);
  const value = secret?.data?.[ref.key];
  if (value !== undefined) return decoded(value);
  if (ref.optional === true) return undefined;
  if (secret === undefined) throw missing('secret', pod, name);
  throw missingKey('Secret', 'secret', pod, name, ref.key);
}

function fileKey(ref: FileKeySelector, named: NamedObjects): string | undefined {
  const file = named.envFiles.get(envFileKey(ref));
  const value = file?.variables.get(ref.key) ?? '';
  if (value !== '') return value;
  if (ref.optional === true) return undefined;
  const where = `file ${JSON.stringify(file?.path ?? ref.path)}`;
  throw new ContainerConfigError({ message: `environment variable key ${JSON.stringify(ref.key)} not found in ${where}` });
}

function missing(resource: 'configmap' | 'secret', pod: Pod, name: string): ContainerConfigError {
  return new ContainerConfigError({
    message: `${resource} "${name}" not found`,
    hint: `create ${resource} ${name} in namespace ${pod.metadata.namespace}`,
    wakeOn: `${resource}/${pod.metadata.namespace}/${name}`,
  });
}

function missingKey(kind: string, resource: 'configmap' | 'secret', pod: Pod, name: string, key: string): ContainerConfigError {
  const namespace = pod.metadata.namespace;
  return new ContainerConfigError({
    message: `couldn't find key ${key} in ${kind} ${namespace}/${name}`,
    hint: `add key ${key} to ${resource} ${name}`,
    wakeOn: `${resource}/${namespace}/${name}`,
  });
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
