import type { ClusterHost } from './ports/cluster-host.ts';

/** What `audit` and `down` must know of a node that belongs to no cluster of this host; `<runDir>/node.json`. */
export interface LoneNodeFacts {
  readonly rootDirectory: string;
  readonly runtimeEndpoint: string;
  /** Where its pods log; absent: below its data folder. */
  readonly podLogs?: string | undefined;
}

export function loneNodeFile(runDir: string): string {
  return `${runDir}/node.json`;
}

/** @returns `undefined` for a cluster, and for what cannot be read */
export async function readLoneNode(runDir: string, host: ClusterHost): Promise<LoneNodeFacts | undefined> {
  const text = await host.files.readText(loneNodeFile(runDir));
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('rootDirectory' in value) || !('runtimeEndpoint' in value)) return undefined;
    const { rootDirectory, runtimeEndpoint } = value;
    const podLogs = 'podLogs' in value && typeof value.podLogs === 'string' ? value.podLogs : undefined;
    return typeof rootDirectory === 'string' && typeof runtimeEndpoint === 'string' ? { rootDirectory, runtimeEndpoint, podLogs } : undefined;
  } catch {
    return undefined; // cut short by a crash: as good as not there
  }
}
