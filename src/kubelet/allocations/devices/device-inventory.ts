import type { Clock, Timer } from '#base/clock.ts';
import type { Device, DevicePluginOptions } from '#wire/generated/device-plugin.ts';
import type { DevicePluginConnection } from '#wire/plugins/device-plugins.ts';
import { maskOf } from '../topology/node-sets.ts';

export interface KnownDevice {
  readonly isHealthy: boolean;
  /** Memory nodes as a mask; 0: none in particular. */
  readonly nodes: number;
}

/** Who speaks for a resource. */
export interface ResourcePlugin {
  readonly connection: DevicePluginConnection;
  readonly options: DevicePluginOptions;
}

interface Resource {
  readonly devices: ReadonlyMap<string, KnownDevice>;
  /** `undefined`: it is gone, or was there before the kubelet was started again. */
  readonly plugin: ResourcePlugin | undefined;
  readonly end: Timer | undefined;
}

/** A plugin that is not back by then has taken its devices along. Upstream's number. */
export const pluginGraceMs = 300_000;

/** The devices of the node, as their plugins told of them last. */
export class DeviceInventory {
  readonly #clock: Clock;
  readonly #changed: (resource: string, devices: readonly string[]) => void;
  readonly #resources = new Map<string, Resource>();
  /** Reported as 0: who is told nothing keeps the number that he knows. */
  readonly #dropped = new Set<string>();

  /** @param changed told which devices came, went, or changed their health */
  constructor(clock: Clock, changed: (resource: string, devices: readonly string[]) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Resources of before: they are there without devices until their plugins are back. */
  expect(resources: readonly string[]): void {
    for (const name of resources) this.#resources.set(name, { devices: new Map(), plugin: undefined, end: this.#endOf(name) });
  }

  /** The plugin that spoke for the resource until now, if there was one, speaks no more. */
  connect(name: string, plugin: ResourcePlugin): void {
    const before = this.#resources.get(name);
    before?.end?.cancel();
    before?.plugin?.connection.close();
    this.#dropped.delete(name);
    this.#resources.set(name, { devices: before?.devices ?? new Map(), plugin, end: undefined });
  }

  /** @param devices all that there are now */
  tell(name: string, plugin: ResourcePlugin, devices: readonly Device[]): void {
    const before = this.#resources.get(name);
    if (before?.plugin !== plugin) return; // another one speaks now
    const next = new Map(
      devices.map(({ ID, health, topology }): [string, KnownDevice] => [
        ID,
        { isHealthy: health === 'Healthy', nodes: maskOf((topology?.nodes ?? []).map((node) => node.ID)) },
      ]),
    );
    this.#resources.set(name, { ...before, devices: next });
    const all = [...new Set([...before.devices.keys(), ...next.keys()])];
    this.#changed(
      name,
      all.filter((id) => before.devices.get(id)?.isHealthy !== next.get(id)?.isHealthy),
    );
  }

  lose(name: string, plugin: ResourcePlugin): void {
    const before = this.#resources.get(name);
    if (before?.plugin !== plugin) return;
    plugin.connection.close();
    const devices = new Map([...before.devices].map(([id, device]) => [id, { ...device, isHealthy: false }]));
    this.#resources.set(name, { devices, plugin: undefined, end: this.#endOf(name) });
    this.#changed(name, [...devices.keys()]);
  }

  get names(): readonly string[] {
    return [...this.#resources.keys()];
  }

  plugin(name: string): ResourcePlugin | undefined {
    return this.#resources.get(name)?.plugin;
  }

  devices(name: string): ReadonlyMap<string, KnownDevice> | undefined {
    return this.#resources.get(name)?.devices;
  }

  /** `undefined`: nobody ever spoke for the resource. */
  healthy(name: string): ReadonlySet<string> | undefined {
    const devices = this.devices(name);
    return devices && new Set([...devices].filter(([, { isHealthy }]) => isHealthy).map(([id]) => id));
  }

  amounts(): Readonly<Record<string, { readonly capacity: number; readonly allocatable: number }>> {
    const gone = [...this.#dropped].map((name) => [name, { capacity: 0, allocatable: 0 }]);
    const known = [...this.#resources].map(([name, { devices }]) => [name, { capacity: devices.size, allocatable: this.healthy(name)?.size ?? 0 }]);
    return Object.fromEntries([...gone, ...known]);
  }

  close(): void {
    for (const { end, plugin } of this.#resources.values()) {
      end?.cancel();
      plugin?.connection.close();
    }
  }

  #endOf(name: string): Timer {
    return this.#clock.after(pluginGraceMs, () => {
      const devices = [...(this.devices(name)?.keys() ?? [])];
      this.#resources.delete(name);
      this.#dropped.add(name);
      this.#changed(name, devices);
    });
  }
}
