import type { Container, Pod, ResourceStatus } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { KubeletHost } from '../../kubelet-config.ts';
import { PluginRegistry } from '../../plugins/plugin-registry.ts';
import { DeviceInventory } from './device-inventory.ts';
import { DevicePlugins } from './device-plugins.ts';
import { DeviceProvider } from './device-provider.ts';
import { DeviceRecordFile } from './device-records.ts';

/** Devices of plugins: who has which, and what there is. */
export interface NodeDevices {
  readonly provider: DeviceProvider;
  /** What the node's status says has changed; counts up. */
  readonly amountsChanged: Watchable<number>;
  /** Pods whose devices are in another state now. */
  readonly affected: Watchable<readonly string[]>;
  statusOf(pod: Pod, container: Container): readonly ResourceStatus[];
  /** Follows plugins until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export type DevicesHost = Pick<KubeletHost, 'files' | 'folderWatch' | 'pluginSockets' | 'clock' | 'logger'>;

/** @param runs whether the runtime says that the container runs */
export async function createDevices(
  root: string,
  host: DevicesHost,
  facts: { readonly runs: DeviceProviderRuns; readonly memoryNodes: readonly number[] },
  signal: AbortSignal,
): Promise<NodeDevices> {
  const { clock, logger, files, pluginSockets: sockets } = host;
  const directory = `${root}/device-plugins`;
  const file = new DeviceRecordFile(files, directory);
  const amountsChanged = new Cell(0);
  const affected = new Cell<readonly string[]>([]);
  const record = await file.load(signal);
  if (record === 'damaged') logger.warn('the record of devices is damaged: who has which is not known any more', { directory });
  const inventory = new DeviceInventory(clock, (resource, devices) => {
    amountsChanged.set(amountsChanged.get() + 1);
    affected.set(provider.holdersOf(resource, devices));
    saver.isStale();
  });
  const registered = () => Object.fromEntries(inventory.names.map((name) => [name, [...(inventory.healthy(name) ?? [])]]));
  const save = async (inner: AbortSignal) => {
    await files.ensureDirectory(directory, 0o750, inner);
    await file.save({ grants: provider.grants, registered: registered() }, inner);
  };
  const saver = lateSaver(save, (error) => logger.warn('who has which devices cannot be kept', { directory, error: messageOf(error) }));
  const before = record === 'damaged' || record === undefined ? { grants: [], registered: {} } : record;
  const provider = new DeviceProvider({ inventory, grants: before.grants, save: saver.now, isStale: saver.isStale, ...facts });
  inventory.expect(Object.keys(before.registered));
  return {
    provider,
    amountsChanged,
    affected,
    statusOf: (pod, container) => provider.healthOf(pod.metadata.uid, container.name),
    async run(inner) {
      const tasks = new TaskGroup((what, error) => logger.error('a follower of plugins broke', { what, error: messageOf(error) }));
      const plugins = new DevicePlugins({ sockets, files, inventory, directory, clock, logger }, tasks);
      const handlers = new Map([['DevicePlugin', plugins]]);
      const registry = new PluginRegistry({ ...host, sockets, handlers, directory: `${root}/plugins_registry` });
      const service = await plugins.serve(inner);
      try {
        await registry.run(inner);
      } finally {
        await service.close();
        await tasks.close();
        inventory.close();
      }
    },
  };
}

type DeviceProviderRuns = (podUid: string, container: string) => boolean;

/** One write at a time; wishes that come meanwhile are one more. */
function lateSaver(save: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void) {
  let last: Promise<void> = Promise.resolve();
  let isWaiting = false;
  const never = new AbortController().signal; // what nobody waits for ends with the process
  return {
    now: (signal: AbortSignal): Promise<void> => {
      const mine = last.then(() => save(signal));
      last = mine.catch(() => undefined); // told to who waits for it
      return mine;
    },
    isStale(): void {
      if (isWaiting) return;
      isWaiting = true;
      last = last
        .then(() => {
          isWaiting = false;
          return save(never);
        })
        .catch(failed);
    },
  };
}
