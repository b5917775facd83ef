import type { CgroupLimits, CgroupSettings, CgroupsPort } from '#kubelet/ports/cgroups.ts';

/** cgroups of a pretended node; `settings` shows what was asked for, in full and in the order of the calls. */
export class MemoryCgroups implements CgroupsPort {
  readonly version = 'v1';
  readonly hasSwapController = false;
  readonly hugepageSizes: readonly string[] = [];
  readonly #cgroups = new Map<string, CgroupSettings>();

  /** Paths that are there, sorted. */
  get paths(): readonly string[] {
    return [...this.#cgroups.keys()].sort();
  }

  settings(path: string): CgroupSettings | undefined {
    return this.#cgroups.get(path);
  }

  async ensure(path: string, settings: CgroupSettings): Promise<void> {
    const names = path.split('/').slice(1);
    for (let length = 1; length <= names.length; length += 1) {
      const ancestor = `/${names.slice(0, length).join('/')}`;
      if (!this.#cgroups.has(ancestor)) this.#cgroups.set(ancestor, {});
    }
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    this.#cgroups.set(path, { ...this.#cgroups.get(path), ...Object.fromEntries(given) });
  }

  async exists(path: string): Promise<boolean> {
    return this.#cgroups.has(path);
  }

  async lack(path: string): Promise<string | undefined> {
    return this.#cgroups.has(path) ? undefined : `cgroup ${JSON.stringify(path)} has some missing paths: ${path}`;
  }

  async children(path: string): Promise<readonly string[]> {
    const prefix = `${path}/`;
    return this.paths
      .filter((other) => other.startsWith(prefix) && !other.slice(prefix.length).includes('/'))
      .map((other) => other.slice(prefix.length));
  }

  async remove(path: string): Promise<void> {
    for (const other of this.paths) if (other === path || other.startsWith(`${path}/`)) this.#cgroups.delete(other);
  }

  async read(path: string): Promise<CgroupLimits | undefined> {
    const settings = this.#cgroups.get(path);
    if (settings === undefined) return undefined;
    const { cpuShares = 1024, cpuQuotaUs = -1, cpuPeriodUs = 100_000, memoryLimitBytes = -1 } = settings;
    return { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes };
  }

  async memoryUsageBytes(path: string): Promise<number | undefined> {
    return this.#cgroups.has(path) ? 0 : undefined;
  }
}
