import { quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod, ResourceStatus } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import type { ContainerAllocateResponse } from '#wire/generated/device-plugin.ts';
import type { ContainerAllocation } from '../../ports/allocations.ts';
import type { AllocationProvider, AllocationRefusal, TopologyHint, TopologyHints } from '../provider.ts';
import { unexpected } from '../refusals.ts';
import { chooseDevices, settle } from './choose-devices.ts';
import { deviceHints } from './device-hints.ts';
import type { DeviceInventory } from './device-inventory.ts';
import type { DeviceGrant } from './device-records.ts';

export interface DeviceProviderDeps {
  readonly inventory: DeviceInventory;
  readonly grants: readonly DeviceGrant[];
  /** Keeps who has what. */
  readonly save: (signal: AbortSignal) => Promise<void>;
  /** Something is to be kept, and nobody waits for it. */
  readonly isStale: () => void;
  /** Whether the runtime says that the container runs. */
  readonly runs: (podUid: string, container: string) => boolean;
  readonly memoryNodes: readonly number[];
}

/** Gives containers the devices of plugins. Source: upstream's device manager. */
export class DeviceProvider implements AllocationProvider {
  readonly #deps: DeviceProviderDeps;
  #grants: readonly DeviceGrant[];
  /** One choice at a time for each resource: between it and the plugin's answer nobody else may take the same. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(deps: DeviceProviderDeps) {
    this.#deps = deps;
    this.#grants = deps.grants;
  }

  get grants(): readonly DeviceGrant[] {
    return this.#grants;
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const { inventory, memoryNodes } = this.#deps;
    const hints = new Map<string, readonly TopologyHint[]>();
    for (const [resource, count] of this.#wishes(container)) {
      const all = new Map([...(inventory.devices(resource) ?? [])].map(([id, { nodes }]) => [id, nodes]));
      const own = this.#own(pod.metadata.uid, container.name, resource);
      const reusable = own === undefined ? this.#reusable(pod, container, resource) : new Set<string>();
      const taken = this.#taken(resource);
      const free = [...(inventory.healthy(resource) ?? [])].filter((id) => !taken.has(id));
      const found = deviceHints({ count, all, available: own ?? new Set(free), reusable }, memoryNodes);
      if (found !== undefined) hints.set(resource, found);
    }
    return hints;
  }

  async allocate(pod: Pod, container: Container, hint: TopologyHint | undefined, signal: AbortSignal): Promise<AllocationRefusal | undefined> {
    for (const [resource, count] of this.#wishes(container)) {
      try {
        const problem = await this.#inTurn(resource, () => this.#give(pod, container, resource, count, hint, signal));
        if (problem !== undefined) return unexpected(problem);
      } catch (error) {
        if (signal.aborted) throw error;
        return unexpected(messageOf(error)); // the plugin's word
      }
    }
    return undefined;
  }

  async prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<Partial<ContainerAllocation> | undefined> {
    const { inventory } = this.#deps;
    const wishes = this.#wishes(container);
    if (wishes.length === 0) return undefined;
    const missing = wishes.some(([resource]) => this.#own(pod.metadata.uid, container.name, resource) === undefined);
    if (missing) await this.allocate(pod, container, undefined, signal);
    const grants = this.#of(pod.metadata.uid, container.name);
    for (const { resource, devices } of grants) {
      const plugin = inventory.plugin(resource);
      if (plugin?.options.preStartRequired === true) await plugin.connection.preStart(devices, signal);
    }
    return allocationOf(grants.map(({ answer }) => answer));
  }

  holds(podUid: string): boolean {
    return this.#grants.some((grant) => grant.podUid === podUid);
  }

  release(podUid: string): void {
    const left = this.#grants.filter((grant) => grant.podUid !== podUid);
    if (left.length === this.#grants.length) return;
    this.#grants = left;
    this.#deps.isStale();
  }

  readonly resources = () => this.#deps.inventory.amounts();

  /** How many of each resource are given: pods that have them are never more than the node has, whatever the plugins say. */
  given(): Readonly<Record<string, number>> {
    const counts = [...new Set(this.#grants.map(({ resource }) => resource))].map((resource) => [resource, this.#taken(resource).size]);
    return Object.fromEntries(counts);
  }

  /** What the container's status says of its devices. */
  healthOf(podUid: string, container: string): readonly ResourceStatus[] {
    return this.#of(podUid, container).map(({ resource, devices }) => {
      const known = this.#deps.inventory.devices(resource);
      const resources = devices.map((id) => {
        const device = known?.get(id);
        return { resourceID: id, health: device === undefined ? 'Unknown' : device.isHealthy ? 'Healthy' : 'Unhealthy' };
      });
      return { name: resource, resources };
    });
  }

  /** Pods that have one of the devices. */
  holdersOf(resource: string, devices: readonly string[]): readonly string[] {
    const grants = this.#grants.filter((grant) => grant.resource === resource && grant.devices.some((id) => devices.includes(id)));
    return [...new Set(grants.map(({ podUid }) => podUid))];
  }

  /** @returns what is wrong */
  async #give(pod: Pod, container: Container, resource: string, count: number, hint: TopologyHint | undefined, signal: AbortSignal) {
    const { inventory, runs, save } = this.#deps;
    const { uid } = pod.metadata;
    const own = this.#own(uid, container.name, resource);
    if (own !== undefined && own.size !== count) {
      return `pod "${uid}" container "${container.name}" changed request for resource "${resource}" from ${own.size} to ${count}`;
    }
    if (runs(uid, container.name)) return undefined; // it has what it needs, whatever we know of it
    const nodesOf = (id: string) => inventory.devices(resource)?.get(id)?.nodes ?? 0;
    const choice = chooseDevices({
      resource,
      count,
      healthy: inventory.healthy(resource),
      own,
      reusable: this.#reusable(pod, container, resource),
      taken: this.#taken(resource),
      isNear: (id) => (hint === undefined || nodesOf(id) === 0 ? undefined : (nodesOf(id) & hint.nodes) !== 0),
    });
    if ('problem' in choice) return choice.problem;
    if (own !== undefined) return undefined;
    const plugin = inventory.plugin(resource);
    if (plugin === undefined) return `endpoint of ${resource} has been stopped`;
    const asks = 'groups' in choice && plugin.options.getPreferredAllocationAvailable;
    const request = {
      availableDeviceIDs: [...('groups' in choice ? choice.available : [])],
      mustIncludeDeviceIDs: [] as string[],
      allocationSize: count,
    };
    if ('groups' in choice) request.mustIncludeDeviceIDs.push(...choice.sure);
    const preferred = asks ? await plugin.connection.preferred(request, signal) : [];
    const devices = 'groups' in choice ? settle(choice, preferred) : choice.devices;
    const { containerResponses } = await plugin.connection.allocate(devices, signal);
    const [answer] = containerResponses;
    if (answer === undefined) return 'no containers return in allocation response {}';
    this.#grants = [...this.#grants, { podUid: uid, container: container.name, resource, devices, answer }];
    await save(signal);
    return undefined;
  }

  /** What the container asks of resources that plugins speak for. */
  #wishes(container: Container): readonly (readonly [resource: string, count: number])[] {
    const limits = Object.entries(container.resources?.limits ?? {});
    const isKnown = (name: string) => this.#deps.inventory.devices(name) !== undefined || this.#grants.some(({ resource }) => resource === name);
    return limits
      .filter(([name]) => name.includes('/') && isKnown(name))
      .map(([name, amount]): [string, number] => [name, quantityToNumber(amount)])
      .filter(([, count]) => count > 0);
  }

  #of(podUid: string, container: string): readonly DeviceGrant[] {
    return this.#grants.filter((grant) => grant.podUid === podUid && grant.container === container);
  }

  #own(podUid: string, container: string, resource: string): ReadonlySet<string> | undefined {
    const grant = this.#of(podUid, container).find((one) => one.resource === resource);
    return grant && new Set(grant.devices);
  }

  #taken(resource: string): ReadonlySet<string> {
    return new Set(this.#grants.filter((grant) => grant.resource === resource).flatMap(({ devices }) => devices));
  }

  /** What ordinary init containers had that come before this one, and nobody took over who lives on. */
  #reusable(pod: Pod, container: Container, resource: string): ReadonlySet<string> {
    const reusable = new Set<string>();
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    for (const { name, restartPolicy } of [...initContainers, ...containers]) {
      if (name === container.name) break;
      const isOrdinaryInit = restartPolicy !== 'Always' && initContainers.some((init) => init.name === name);
      for (const device of this.#own(pod.metadata.uid, name, resource) ?? []) {
        if (isOrdinaryInit) reusable.add(device);
        else reusable.delete(device);
      }
    }
    return reusable;
  }

  async #inTurn<T>(resource: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(resource);
    const mine = (before ?? Promise.resolve()).then(work, work);
    this.#turns.set(resource, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(resource) === mine) this.#turns.delete(resource);
    }
  }
}

/** Of two that say the same of one path or name the first counts. */
function allocationOf(answers: readonly ContainerAllocateResponse[]): Partial<ContainerAllocation> {
  const byPath = <T extends { readonly containerPath: string }>(list: readonly T[]) => [
    ...new Map([...list].reverse().map((one) => [one.containerPath, one])).values(),
  ];
  const cdiDevices = [...new Set(answers.flatMap((answer) => answer.cdiDevices.map(({ name }) => name)))];
  return {
    envs: Object.assign({}, ...[...answers].reverse().map(({ envs }) => envs)),
    annotations: Object.assign({}, ...[...answers].reverse().map(({ annotations }) => annotations)),
    mounts: byPath(answers.flatMap(({ mounts }) => mounts)),
    devices: byPath(answers.flatMap(({ devices }) => devices)),
    cdiDevices,
  };
}
