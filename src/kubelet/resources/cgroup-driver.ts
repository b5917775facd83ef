import type { Clock } from '#base/clock.ts';
import { Unsupported } from '#wire/cri/errors.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { CgroupDriver } from './cgroup-names.ts';

const tries = 3;
const betweenTriesMs = 2000;

/**
 * How cgroups are named: as the runtime says, or as it is configured where the runtime (containerd before 2.0) cannot say.
 *
 * @throws what the runtime threw at the last of three tries
 */
export async function chooseCgroupDriver(
  runtime: Pick<RuntimePort, 'cgroupDriver'>,
  configured: CgroupDriver,
  clock: Clock,
  signal: AbortSignal,
): Promise<CgroupDriver> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await runtime.cgroupDriver(signal)) ?? configured;
    } catch (error) {
      if (error instanceof Unsupported) return configured;
      if (attempt === tries) throw error;
      await clock.sleep(betweenTriesMs, signal);
    }
  }
}
