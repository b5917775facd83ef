import { type CgroupSettings, cpuWeight } from '../ports/cgroups.ts';
import type { SliceProperties } from '../ports/slices.ts';

/** No limit, to systemd. */
const infinity = 2n ** 64n - 1n;
/** systemd counts a quota in whole hundredths of a CPU. */
const quotaStepUs = 10_000;

/** Settings as properties of a slice; what systemd has no property for (huge pages) is left out: nobody takes that back. */
export function sliceProperties(settings: CgroupSettings, version: 'v1' | 'v2'): SliceProperties {
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes, pidsLimit, unified = {} } = settings;
  const amount = (limit: number | undefined) => (limit === undefined ? undefined : limit < 0 ? infinity : BigInt(Math.trunc(limit)));
  const isV2 = version === 'v2';
  const wanted: readonly (readonly [name: string, value: bigint | undefined])[] = [
    isV2 ? ['CPUWeight', amount(cpuShares === undefined ? undefined : cpuWeight(cpuShares))] : ['CPUShares', amount(cpuShares)],
    ['CPUQuotaPerSecUSec', cpuQuotaUs === undefined ? undefined : quotaPerSecond(cpuQuotaUs, cpuPeriodUs ?? 100_000)],
    ['CPUQuotaPeriodUSec', amount(cpuPeriodUs)],
    [isV2 ? 'MemoryMax' : 'MemoryLimit', amount(memoryLimitBytes)],
    ['TasksMax', amount(pidsLimit === undefined ? undefined : pidsLimit < 0 ? -1 : Math.max(1, pidsLimit))],
    ...(isV2 ? (['MemoryMin', 'MemoryLow'] as const).map((name) => [name, unifiedAmount(unified, name)] as const) : []),
  ];
  return Object.fromEntries(wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Rounded up, as the runtime does it: less than what is asked for would be a lie. */
function quotaPerSecond(quotaUs: number, periodUs: number): bigint {
  if (quotaUs < 0) return infinity;
  return BigInt(Math.ceil((quotaUs * 1_000_000) / periodUs / quotaStepUs) * quotaStepUs);
}

function unifiedAmount(unified: Readonly<Record<string, string>>, name: 'MemoryMin' | 'MemoryLow'): bigint | undefined {
  const text = unified[name === 'MemoryMin' ? 'memory.min' : 'memory.low'];
  return text === undefined ? undefined : BigInt(text);
}
