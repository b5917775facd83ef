/** What a container wishes of one resource, and what there is. */
export interface DeviceWish {
  readonly resource: string;
  readonly count: number;
  /** `undefined`: no plugin has come forward for the resource. */
  readonly healthy: ReadonlySet<string> | undefined;
  /** What the container was given before. */
  readonly own: ReadonlySet<string> | undefined;
  /** Of the pod's ordinary init containers, which will have ended. */
  readonly reusable: ReadonlySet<string>;
  /** What somebody has. */
  readonly taken: ReadonlySet<string>;
  /** Whether a device is on the memory nodes where the container is to be; `undefined`: it is on none in particular, or nobody has a wish. */
  readonly isNear: (device: string) => boolean | undefined;
}

/** What is to be said when no choice is possible. Upstream's words. */
export interface NoDevices {
  readonly problem: string;
}

/** What is sure, and among what the plugin may say which it would rather give. */
export interface OpenChoice {
  readonly sure: readonly string[];
  /** One group after the other is emptied. */
  readonly groups: readonly (readonly string[])[];
  readonly count: number;
  /** What the plugin is asked about: what is sure, and what of the rest would do. */
  readonly available: readonly string[];
}

export type DeviceChoice = NoDevices | { readonly devices: readonly string[] } | OpenChoice;

/** Which devices a container gets: those that it has, then those of ended init containers, then near ones, then others. */
export function chooseDevices(wish: DeviceWish): DeviceChoice {
  const { resource, count, healthy, own, reusable } = wish;
  if (healthy === undefined) return { problem: `cannot allocate unregistered device ${resource}` };
  if (healthy.size === 0) return { problem: `no healthy devices present; cannot allocate unhealthy devices ${resource}` };
  if (own !== undefined) {
    if ([...own].every((device) => healthy.has(device))) return { devices: [...own] };
    return { problem: `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}` };
  }
  const reused = [...reusable].sort(byName).slice(0, count);
  if (reused.length === count) return { devices: reused };
  return fresh(wish, healthy, reused);
}

/** @param preferred what the plugin said: only what was offered counts */
export function settle({ sure, groups, count, available }: OpenChoice, preferred: readonly string[]): readonly string[] {
  const offered = preferred.filter((device) => available.includes(device));
  return [...new Set([...sure, ...offered, ...groups.flat()])].slice(0, count);
}

function fresh({ resource, count, taken, isNear }: DeviceWish, healthy: ReadonlySet<string>, reused: readonly string[]): DeviceChoice {
  const needed = count - reused.length;
  const free = [...healthy].filter((device) => !taken.has(device)).sort(byName);
  if (free.length < needed) {
    return { problem: `requested number of devices unavailable for ${resource}. Requested: ${needed}, Available: ${free.length}` };
  }
  const [near, far, anywhere] = [true, false, undefined].map((where) => free.filter((device) => isNear(device) === where));
  if (near === undefined || far === undefined || anywhere === undefined) throw new Error('three groups');
  if (needed < near.length) return { sure: reused, groups: [near], count, available: [...reused, ...near] };
  const sure = [...reused, ...near];
  if (sure.length === count) return { devices: sure };
  return { sure, groups: [far, anywhere], count, available: [...sure, ...far, ...anywhere] };
}

/** `dev-2` before `dev-10`. */
function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
