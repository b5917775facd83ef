import { InvalidInput } from '#base/errors.ts';

export const MIN_CPU_SHARES = 2;

/**
 * CPU request as a cgroup v1 weight.
 *
 * @param cpuMilli thousandths of a core, an integer >= 0
 * @returns `cpu.shares`, 2..262144
 * @throws {InvalidInput} when `cpuMilli` is not such an integer
 * Source: kernel cgroup-v1 cpu controller; it silently raises anything below 2, so we do it visibly.
 */
export function cpuShares(cpuMilli: number): number {
  if (!Number.isInteger(cpuMilli) || cpuMilli < 0) throw new InvalidInput({ message: `cpuMilli is ${cpuMilli}` });
  return Math.min(262_144, Math.max(MIN_CPU_SHARES, Math.floor((cpuMilli * 1024) / 1000)));
}

/**
 * CPU limit as microseconds a period; 0 for no limit.
 *
 * Source: the kernel refuses a quota below 1 ms, so a smaller limit becomes 1 ms.
 */
export function cpuQuotaUs(cpuMilli: number, periodUs: number): number {
  return cpuMilli === 0 ? 0 : Math.max(1000, Math.floor((cpuMilli * periodUs) / 1000));
}
