import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { FilesPort } from '../../ports/files.ts';
import { type Credential, credentialsFor, parseDockerConfig, type RegistryCredential } from './credentials.ts';

/** A file that Docker's command line keeps credentials in. */
export interface DockerConfigFile {
  readonly path: string;
  readonly form: 'json' | 'cfg';
}

export interface DockerFilesDeps {
  readonly files: Pick<FilesPort, 'read'>;
  readonly clock: Clock;
  /** The first that can be read counts, alone. */
  readonly paths: readonly DockerConfigFile[];
}

/** Upstream's. */
const keepMs = 300_000;

/** Credentials of the node itself. What the file says is known for five minutes: a change counts later. */
export class DockerFiles {
  readonly #deps: DockerFilesDeps;
  #known: { readonly entries: readonly RegistryCredential[]; readonly untilMs: number } | undefined;

  constructor(deps: DockerFilesDeps) {
    this.#deps = deps;
  }

  async credentials(repository: string, signal: AbortSignal): Promise<readonly Credential[]> {
    const nowMs = this.#deps.clock.now();
    if (this.#known === undefined || this.#known.untilMs <= nowMs) this.#known = { entries: await this.#read(signal), untilMs: nowMs + keepMs };
    return credentialsFor(repository, this.#known.entries);
  }

  async #read(signal: AbortSignal): Promise<readonly RegistryCredential[]> {
    for (const { path, form } of this.#deps.paths) {
      const text = await this.#text(path, signal);
      if (text !== undefined && isJson(text)) return parseDockerConfig(text, form).map((entry) => ({ ...entry, source: { kind: 'node' } }) as const);
    }
    return [];
  }

  /** One that cannot be read counts as none: what is missing shows at the pull. */
  async #text(path: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const bytes = await this.#deps.files.read(path, signal);
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error;
      return undefined;
    }
  }
}

/** Where upstream looks: in the kubelet's root and working folder, then in the user's home and the root folder. */
export function dockerConfigFiles(kubeletRoot: string, workingDir: string, home: string): readonly DockerConfigFile[] {
  const at = (folders: readonly string[], name: string, form: DockerConfigFile['form']) =>
    folders.map((folder) => ({ path: `${folder.replace(/\/+$/, '')}/${name}`, form }));
  const plain = [kubeletRoot, workingDir, home, '/'];
  return [
    ...at([kubeletRoot, workingDir, `${home}/.docker`, '/.docker'], 'config.json', 'json'),
    ...at(plain, '.dockercfg', 'cfg'),
    ...at(plain, '.dockerconfigjson', 'json'),
  ];
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
