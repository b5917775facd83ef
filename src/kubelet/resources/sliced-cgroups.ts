import type { CgroupsPort } from '../ports/cgroups.ts';
import type { SlicesPort } from '../ports/slices.ts';
import { sliceProperties } from './slice-properties.ts';

/**
 * Cgroups of a host that systemd runs: it believes that the whole tree is its own, and takes back what it does not know of. So each slice is
 * a unit of its, with the same limits as the kernel gets.
 */
export function slicedCgroups(cgroups: CgroupsPort, slices: SlicesPort): CgroupsPort {
  return {
    version: cgroups.version,
    hasSwapController: cgroups.hasSwapController,
    hugepageSizes: cgroups.hugepageSizes,
    exists: (path, signal) => cgroups.exists(path, signal),
    lack: (path, signal) => cgroups.lack(path, signal),
    children: (path, signal) => cgroups.children(path, signal),
    read: (path, signal) => cgroups.read(path, signal),
    memoryUsageBytes: (path, signal) => cgroups.memoryUsageBytes(path, signal),
    async ensure(path, settings, signal) {
      const units = unitsOf(path);
      for (const [at, unit] of units.entries()) {
        const isLast = at === units.length - 1;
        if (isLast) await slices.ensure(unit, sliceProperties(settings, cgroups.version), signal);
        else if (!(await cgroups.exists(pathOf(units.slice(0, at + 1)), signal))) await slices.ensure(unit, {}, signal);
      }
      await cgroups.ensure(path, settings, signal);
    },
    async remove(path, signal) {
      await cgroups.remove(path, signal);
      const unit = unitsOf(path).at(-1);
      if (unit !== undefined) await slices.stop(unit, signal);
    },
  };
}

/** Other cgroups, such as a scope or a folder of the user's, are none of ours to tell of. */
function unitsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.every((part) => part.endsWith('.slice')) ? parts : [];
}

function pathOf(units: readonly string[]): string {
  return units.map((unit) => `/${unit}`).join('');
}
