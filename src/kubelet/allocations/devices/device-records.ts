import { createHash } from 'node:crypto';
import { ContainerAllocateResponse } from '#wire/generated/device-plugin.ts';
import type { FilesPort } from '../../ports/files.ts';

/** What one container was given of one resource. */
export interface DeviceGrant {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: readonly string[];
  /** What the plugin wants the container to have. */
  readonly answer: ContainerAllocateResponse;
}

export interface DeviceRecord {
  readonly grants: readonly DeviceGrant[];
  /** Healthy devices by resource. */
  readonly registered: Readonly<Record<string, readonly string[]>>;
}

interface Entry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  /** By memory node; -1: none in particular. */
  readonly DeviceIDs: Readonly<Record<string, readonly string[]>>;
  readonly AllocResp: string;
}

interface Checkpoint {
  readonly Data: { readonly PodDeviceEntries: readonly Entry[]; readonly RegisteredDevices: Readonly<Record<string, readonly string[]>> };
  readonly Checksum: number;
}

/** Who has which devices, in a file: a restart of the kubelet changes nothing. Upstream's name and shape. */
export class DeviceRecordFile {
  readonly #files: Pick<FilesPort, 'read' | 'write'>;
  readonly #path: string;

  constructor(files: Pick<FilesPort, 'read' | 'write'>, directory: string) {
    this.#files = files;
    this.#path = `${directory}/kubelet_internal_checkpoint`;
  }

  /** @returns `undefined` when there is none; 'damaged' for one that cannot be trusted */
  async load(signal: AbortSignal): Promise<DeviceRecord | 'damaged' | undefined> {
    const bytes = await this.#files.read(this.#path, signal);
    if (bytes === undefined) return undefined;
    try {
      const { Data, Checksum } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Checkpoint; // the sum tells whether it is
      if (Checksum !== checksumOf(Data)) return 'damaged';
      return { grants: Data.PodDeviceEntries.map(grantOf), registered: Data.RegisteredDevices };
    } catch {
      return 'damaged';
    }
  }

  async save({ grants, registered }: DeviceRecord, signal: AbortSignal): Promise<void> {
    const Data = { PodDeviceEntries: grants.map(entryOf), RegisteredDevices: registered };
    await this.#files.write(this.#path, JSON.stringify({ Data, Checksum: checksumOf(Data) }), 0o600, signal);
  }
}

function entryOf({ podUid, container, resource, devices, answer }: DeviceGrant): Entry {
  const AllocResp = Buffer.from(ContainerAllocateResponse.encode(answer).finish()).toString('base64');
  return { PodUID: podUid, ContainerName: container, ResourceName: resource, DeviceIDs: { '-1': devices }, AllocResp };
}

function grantOf({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: Entry): DeviceGrant {
  const answer = ContainerAllocateResponse.decode(Buffer.from(AllocResp, 'base64'));
  return { podUid: PodUID, container: ContainerName, resource: ResourceName, devices: Object.values(DeviceIDs).flat(), answer };
}

function checksumOf(data: Checkpoint['Data']): number {
  return createHash('sha256').update(JSON.stringify(data)).digest().readUInt32BE(0);
}
