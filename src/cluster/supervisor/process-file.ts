import type { HostFiles } from '../ports/files.ts';
import type { HostProcesses, ProcessIdentity } from '../ports/processes.ts';

/** Remembers which process a part is, for those who come after its parent. */
export async function writeProcessFile(files: HostFiles, path: string, process: ProcessIdentity): Promise<void> {
  await files.write(path, `${JSON.stringify({ pid: process.pid, startTicks: process.startTicks })}\n`, 0o644);
}

/** @returns the process if it lives */
export async function liveProcess(files: HostFiles, processes: HostProcesses, path: string): Promise<ProcessIdentity | undefined> {
  const remembered = parse(await files.readText(path));
  return remembered !== undefined && (await processes.isAlive(remembered)) ? remembered : undefined;
}

function parse(text: string | undefined): ProcessIdentity | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTicks' in value)) return undefined;
    const { pid, startTicks } = value;
    return typeof pid === 'number' && typeof startTicks === 'number' && pid > 1 ? { pid, startTicks } : undefined;
  } catch {
    return undefined; // cut short by a crash: as good as not there
  }
}
