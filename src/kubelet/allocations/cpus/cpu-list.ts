/** CPUs as the kernel writes them: `0-2,7`. @param cpus ascending */
export function cpuList(cpus: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const cpu of cpus) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === cpu - 1) range.last = cpu;
    else ranges.push({ first: cpu, last: cpu });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}
