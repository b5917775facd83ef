/** The level of Kubernetes whose behaviour this server has. */
export const kubernetesVersion = { major: '1', minor: '36', gitVersion: 'v1.36.0+kubernode' } as const;

/** `/version`. */
export function versionInfo(): Readonly<Record<string, string>> {
  return {
    ...kubernetesVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
