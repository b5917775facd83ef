import { closeSync, mkdirSync, openSync } from 'node:fs';
import type { FaultPoint } from '#kubelet/pod-start/fault-points.ts';

/**
 * Ends this process with SIGKILL at each of the places that `KUBERNODE_FAULTS` names, once in the life of the cluster's run folder:
 * `POD/POINT`, several joined by commas, such as `web/sandbox:start:after`.
 *
 * @returns `undefined` when none are wanted
 */
export function faultPointsOf(environment: Readonly<Record<string, string | undefined>>, runDir: string): FaultPoint | undefined {
  const wanted = new Set((environment['KUBERNODE_FAULTS'] ?? '').split(',').filter((place) => place !== ''));
  if (wanted.size === 0) return undefined;
  const folder = `${runDir}/faults`;
  mkdirSync(folder, { recursive: true });
  return (podName, point) => {
    const place = `${podName}/${point}`;
    if (wanted.delete(place) && isFirst(`${folder}/${encodeURIComponent(place)}`)) process.kill(process.pid, 'SIGKILL');
  };
}

/** The file marks what has happened: the next process passes by. */
function isFirst(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'));
    return true;
  } catch {
    return false;
  }
}
