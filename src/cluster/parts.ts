import type { ClusterPaths } from './cluster-paths.ts';
import type { PartName } from './find-clusters.ts';
import type { ClusterSettings } from './settings.ts';
import type { PartSpec } from './supervisor/part.ts';
import type { Program, UpOptions } from './up-options.ts';

type Timings = ClusterSettings['timings'];

/** What `--timing` takes for the supervisor. */
export const supervisorTimingNames: readonly string[] = ['partPauseMaxMs'];

export function containerdPart(paths: ClusterPaths, timings: Timings): PartSpec {
  return { ...part(paths, 'containerd', { program: 'containerd', args: ['--config', paths.containerdConfig] }, timings), saysReady: false };
}

export function controlPlanePart(paths: ClusterPaths, programs: UpOptions['programs'], timings: Timings): PartSpec {
  return part(paths, 'control-plane', withSettings(programs.controlPlane, paths), timings);
}

export function kubeletPart(paths: ClusterPaths, programs: UpOptions['programs'], timings: Timings): PartSpec {
  return part(paths, 'kubelet', withSettings(programs.kubelet, paths), timings);
}

export function supervisorProgram(paths: ClusterPaths, name: string, programs: UpOptions['programs']): Program {
  const { program, args } = programs.supervisor;
  return { program, args: [...args, '--name', name, '--run-dir', paths.runDir, '--data-dir', paths.dataDir] };
}

export function stdoutFile(paths: ClusterPaths, name: PartName): string {
  return `${paths.runDir}/${name}.stdout`;
}

export function logFile(paths: ClusterPaths, name: PartName): string {
  return `${paths.partLogs}/${name}.log`;
}

function part(paths: ClusterPaths, name: PartName, { program, args }: Program, timings: Timings): PartSpec {
  const longestPauseMs = timings['partPauseMaxMs'] ?? 10_000;
  return { name, program, args, stdoutFile: stdoutFile(paths, name), logFile: logFile(paths, name), saysReady: true, longestPauseMs };
}

function withSettings({ program, args }: Program, paths: ClusterPaths): Program {
  return { program, args: [...args, '--settings', paths.settingsFile, '--run-dir', paths.runDir] };
}
