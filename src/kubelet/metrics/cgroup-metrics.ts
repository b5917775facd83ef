import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import type { CgroupsPort } from '../ports/cgroups.ts';
import { histogram } from './families.ts';

/** The same cgroups; what is done to them is timed. One that may be there already is made and updated in one call: that counts as `create`. */
export function withCgroupMetrics(cgroups: CgroupsPort, registry: Registry, clock: Clock): CgroupsPort {
  const seconds = histogram(registry, 'kubelet_cgroup_manager_duration_seconds', 'Duration of what is done to cgroups', ['operation_type']);
  const timed = async (operation_type: string, work: () => Promise<void>): Promise<void> => {
    const startedAt = clock.monotonic();
    try {
      await work();
    } finally {
      seconds.observe({ operation_type }, (clock.monotonic() - startedAt) / 1000);
    }
  };
  return new Proxy(cgroups, {
    get(target, property) {
      if (property === 'ensure') return (...args: Parameters<CgroupsPort['ensure']>) => timed('create', () => target.ensure(...args));
      if (property === 'remove') return (...args: Parameters<CgroupsPort['remove']>) => timed('destroy', () => target.remove(...args));
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
