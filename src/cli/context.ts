import type { Clock } from '#base/clock.ts';
import type { Client } from '#client/client.ts';
import type { ClusterHost } from '#cluster/ports/cluster-host.ts';
import type { UpOptions } from '#cluster/up-options.ts';

/** A connection to a cluster's API server with the administrator's credentials. */
export interface Connection {
  readonly client: Client;
  close(): Promise<void>;
}

export interface ClusterChoice {
  readonly name: string;
  readonly dataDir: string | undefined;
}

/** What commands do with the world outside; `bin/kubernode.ts` joins it to the host. */
export interface CliContext {
  /** What the user typed to run us, for advice that can be copied. */
  readonly programName: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For results: one line, without its end. */
  print(line: string): void;
  /** For progress and remarks, on stderr. */
  tell(line: string): void;
  readFile(path: string): Promise<string>;
  /** This host, for the commands that act on it. */
  host(): Promise<ClusterHost>;
  /** How the parts of a cluster are started. */
  readonly programs: UpOptions['programs'];
  /** Names of the periods, back-offs and thresholds that can be set. */
  timingNames(): Promise<readonly string[]>;
  /** Reads and checks a `KubeletConfiguration`, YAML or JSON. @throws {InvalidInput} that names the field */
  readKubeletConfiguration(path: string, extent?: 'whole' | 'part'): Promise<Readonly<Record<string, unknown>>>;
  /** Reads and checks a `CredentialProviderConfig` and looks for its plugins. @throws {InvalidInput} that says what is wrong */
  checkCredentialProviders(configPath: string, directory: string): Promise<void>;
  /** Resolves when the user ends the command. */
  untilInterrupted(): Promise<void>;
  /** Path of the cluster's kubeconfig. @throws {NotFound} when there is no such cluster */
  kubeconfigPath(cluster: ClusterChoice): Promise<string>;
  /** @throws {NotFound} when there is no such cluster, {Unavailable} when it does not answer */
  connect(cluster: ClusterChoice): Promise<Connection>;
}
