import type { ClusterPaths } from './cluster-paths.ts';
import type { PartName } from './find-clusters.ts';
import type { PartSpec } from './supervisor/part.ts';
import type { Program, UpOptions } from './up-options.ts';

export function containerdPart(paths: ClusterPaths): PartSpec {
  return { ...part(paths, 'containerd', { program: 'containerd', args: ['--config', paths.containerdConfig] }), saysReady: false };
}

export function controlPlanePart(paths: ClusterPaths, programs: UpOptions['programs']): PartSpec {
  return part(paths, 'control-plane', withSettings(programs.controlPlane, paths));
}

export function kubeletPart(paths: ClusterPaths, programs: UpOptions['programs']): PartSpec {
  return part(paths, 'kubelet', withSettings(programs.kubelet, paths));
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

function part(paths: ClusterPaths, name: PartName, { program, args }: Program): PartSpec {
  return { name, program, args, stdoutFile: stdoutFile(paths, name), logFile: logFile(paths, name), saysReady: true };
}

function withSettings({ program, args }: Program, paths: ClusterPaths): Program {
  return { program, args: [...args, '--settings', paths.settingsFile, '--run-dir', paths.runDir] };
}
