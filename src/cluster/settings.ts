import { InvalidInput } from '#base/errors.ts';
import { hostNames } from './host-names.ts';
import { parseRange } from './ipv4-range.ts';

/** What `up` decided about a cluster, remembered in `<dataDir>/settings.json` and read by every part. */
export interface ClusterSettings {
  readonly version: 1;
  readonly name: string;
  /** Absolute. With the run folder it gives every path: `clusterPaths(runDir, dataDir)`. */
  readonly dataDir: string;
  /** The control plane alone: no node, no runtime, no root. */
  readonly apiOnly: boolean;
  readonly nodeName: string;
  /** The node's InternalIP; the kubelet's server listens there. */
  readonly nodeAddress: string;
  /** Where the API server listens. */
  readonly apiAddress: string;
  readonly apiPort: number;
  readonly kubeletPort: number;
  /** The whole cluster's range. */
  readonly podCIDR: string;
  /** This node's part of it. */
  readonly nodePodCIDR: string;
  readonly serviceCIDR: string;
  readonly clusterDomain: string;
  /** Name servers of pods with `dnsPolicy: ClusterFirst`; empty while the cluster has none. */
  readonly clusterDNS: readonly string[];
  readonly store: StoreSettings;
  readonly runtime: RuntimeSettings;
  /**
   * Periods, back-offs and thresholds that differ from upstream's defaults, in milliseconds, by the name that the part gives them
   * (`nodeLeaseRenewMs`, `podGcMs`...).
   */
  readonly timings: Readonly<Record<string, number>>;
  /** The node's `KubeletConfiguration` as the user wrote it; what is absent has its default. */
  readonly kubelet: Readonly<Record<string, unknown>>;
  /** Programs that know credentials for registries. */
  readonly credentialProviders?: CredentialProviderPaths | undefined;
}

export interface CredentialProviderPaths {
  /** A `CredentialProviderConfig`, or a folder of them. Absolute. */
  readonly configPath: string;
  /** Of the programs. Absolute. */
  readonly directory: string;
}

export type StoreSettings =
  | { readonly kind: 'sqlite' }
  | { readonly kind: 'etcd'; readonly servers: readonly string[]; readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };

export interface RuntimeSettings {
  /** `private`: containerd that the supervisor starts for this cluster alone. */
  readonly kind: 'private' | 'external';
  /** CRI v1, `unix:///path`. */
  readonly endpoint: string;
  readonly sandboxImage: string;
  /** Folder of the network configuration. A user's own one is only read. */
  readonly cniConfigDir: string;
  readonly ownsCniConfig: boolean;
  readonly cniBinDirs: readonly string[];
  /** How a private containerd keeps the layers of images; a change would lose them. */
  readonly snapshotter: 'overlayfs' | 'native';
}

export function encodeSettings(settings: ClusterSettings): string {
  return `${JSON.stringify(settings, undefined, 2)}\n`;
}

/**
 * @param source names the text in error messages, usually its file
 * @throws {InvalidInput} that names the first field that is missing, of the wrong type or out of range
 */
export function parseSettings(text: string, source: string): ClusterSettings {
  const fields = new Fields(parseJson(text, source), source, '');
  const version = fields.number('version', 1, 1);
  if (version !== 1) throw new InvalidInput({ message: `${source}: version ${version} is not known` });
  const settings: ClusterSettings = {
    version,
    name: hostNames(fields.string('name')).name,
    dataDir: fields.absolutePath('dataDir'),
    apiOnly: fields.boolean('apiOnly'),
    nodeName: fields.string('nodeName'),
    nodeAddress: fields.string('nodeAddress'),
    apiAddress: fields.string('apiAddress'),
    apiPort: fields.number('apiPort', 1, 65_535),
    kubeletPort: fields.number('kubeletPort', 0, 65_535),
    podCIDR: fields.range('podCIDR'),
    nodePodCIDR: fields.range('nodePodCIDR'),
    serviceCIDR: fields.range('serviceCIDR'),
    clusterDomain: fields.string('clusterDomain'),
    clusterDNS: fields.strings('clusterDNS'),
    store: parseStore(fields.object('store')),
    runtime: parseRuntime(fields.object('runtime')),
    timings: parseTimings(fields.object('timings')),
    kubelet: fields.has('kubelet') ? fields.object('kubelet').values() : {},
    ...(fields.has('credentialProviders') ? { credentialProviders: parseProviders(fields.object('credentialProviders')) } : {}),
  };
  fields.refuseOthers(Object.keys(settings));
  return settings;
}

function parseStore(fields: Fields): StoreSettings {
  const kind = fields.oneOf('kind', ['sqlite', 'etcd']);
  if (kind === 'sqlite') {
    fields.refuseOthers(['kind']);
    return { kind };
  }
  const servers = fields.strings('servers');
  if (servers.length === 0) throw fields.problem('servers', 'names no etcd server');
  fields.refuseOthers(['kind', 'servers', 'caFile', 'certFile', 'keyFile']);
  const files: { caFile?: string; certFile?: string; keyFile?: string } = {};
  for (const key of ['caFile', 'certFile', 'keyFile'] as const) if (fields.has(key)) files[key] = fields.absolutePath(key);
  return { kind, servers, ...files };
}

function parseRuntime(fields: Fields): RuntimeSettings {
  const runtime: RuntimeSettings = {
    kind: fields.oneOf('kind', ['private', 'external']),
    endpoint: fields.string('endpoint'),
    sandboxImage: fields.string('sandboxImage'),
    cniConfigDir: fields.absolutePath('cniConfigDir'),
    ownsCniConfig: fields.boolean('ownsCniConfig'),
    cniBinDirs: fields.strings('cniBinDirs'),
    snapshotter: fields.oneOf('snapshotter', ['overlayfs', 'native']),
  };
  if (!/^unix:\/\/\/./.test(runtime.endpoint)) throw fields.problem('endpoint', 'is not of the form unix:///path');
  fields.refuseOthers(Object.keys(runtime));
  return runtime;
}

function parseProviders(fields: Fields): CredentialProviderPaths {
  const paths = { configPath: fields.absolutePath('configPath'), directory: fields.absolutePath('directory') };
  fields.refuseOthers(Object.keys(paths));
  return paths;
}

function parseTimings(fields: Fields): Readonly<Record<string, number>> {
  return Object.fromEntries(fields.names().map((name) => [name, fields.number(name, 0, Number.MAX_SAFE_INTEGER)]));
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidInput({ message: `${source} is not JSON`, hint: 'restore it from a copy, or remove the data folder to start anew', cause });
  }
}

/** Reads the fields of one JSON object; each failure names the field's path. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #source: string;
  readonly #path: string;

  constructor(value: unknown, source: string, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new InvalidInput({ message: `${source}: ${path === '' ? 'the content' : path} is not an object` });
    }
    this.#values = { ...value };
    this.#source = source;
    this.#path = path;
  }

  names(): readonly string[] {
    return Object.keys(this.#values);
  }

  values(): Readonly<Record<string, unknown>> {
    return this.#values;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  string(name: string): string {
    const value = this.#values[name];
    if (typeof value !== 'string' || value === '') throw this.problem(name, 'is not a text');
    return value;
  }

  strings(name: string): readonly string[] {
    const value = this.#values[name];
    if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) throw this.problem(name, 'is not a list of texts');
    return value;
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.string(name);
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw this.problem(name, `is ${JSON.stringify(value)}, not one of ${choices.join(', ')}`);
    return choice;
  }

  absolutePath(name: string): string {
    const value = this.string(name);
    if (!value.startsWith('/')) throw this.problem(name, 'is not an absolute path');
    return value;
  }

  boolean(name: string): boolean {
    const value = this.#values[name];
    if (typeof value !== 'boolean') throw this.problem(name, 'is not true or false');
    return value;
  }

  number(name: string, min: number, max: number): number {
    const value = this.#values[name];
    if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max)
      throw this.problem(name, `is not a number of ${min} to ${max}`);
    return value;
  }

  range(name: string): string {
    const value = this.string(name);
    parseRange(value);
    return value;
  }

  object(name: string): Fields {
    return new Fields(this.#values[name], this.#source, this.#path === '' ? name : `${this.#path}.${name}`);
  }

  refuseOthers(known: readonly string[]): void {
    const stranger = Object.keys(this.#values).find((name) => !known.includes(name));
    if (stranger !== undefined) throw this.problem(stranger, 'is not a known setting');
  }

  problem(name: string, what: string): InvalidInput {
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    return new InvalidInput({ message: `${this.#source}: ${path} ${what}` });
  }
}
