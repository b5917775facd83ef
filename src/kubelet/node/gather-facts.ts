import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Image, VersionResponse } from '#wire/generated/cri.ts';
import type { NodeStrain } from '../eviction/node-strain.ts';
import type { HostFacts, HostPort } from '../ports/host.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { DeviceAmounts } from './node-resources.ts';
import type { NodeFacts } from './node-status.ts';
import type { RuntimeWatch } from './runtime-state.ts';

export interface FactsGathererOptions {
  readonly host: HostPort;
  readonly runtime: Pick<RuntimePort, 'version' | 'listImages'>;
  readonly runtimeWatch: Pick<RuntimeWatch, 'state'>;
  readonly hostname: string;
  readonly addresses: readonly string[];
  /** Known once the kubelet's server listens. */
  readonly kubeletPort: number;
  /** Such as `v1.36.0`. */
  readonly kubeletVersion: string;
  /** Whose file system is the node's ephemeral storage. */
  readonly rootDirectory: string;
  readonly strain: NodeStrain;
  /** Of plugins; absent: none. */
  readonly devices?: () => DeviceAmounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Asks host and runtime for what the node's status says. A runtime that does not answer leaves its part as it was last. */
export function gatherFacts(options: FactsGathererOptions): (signal: AbortSignal) => Promise<NodeFacts> {
  let host: HostFacts | undefined;
  let hostAtMs = 0;
  let runtimeName = '';
  let images: readonly Image[] = [];
  let version: VersionResponse | undefined;
  let imagesAtMs = Number.NEGATIVE_INFINITY;
  const askRuntime = async (signal: AbortSignal): Promise<void> => {
    try {
      version ??= await options.runtime.version(signal);
      runtimeName = version.runtimeName;
      if (options.clock.monotonic() - imagesAtMs < imagesAgeMs) return;
      images = await options.runtime.listImages(signal);
      imagesAtMs = options.clock.monotonic();
    } catch (error) {
      if (!signal.aborted) options.logger.debug('the runtime does not tell its images', { error: messageOf(error) });
    }
  };
  return async (signal) => {
    const isUp = options.runtimeWatch.state.get().runtimeProblem === '';
    if (!isUp) version = undefined; // the one that comes back may be a newer one
    const [filesystem] = await Promise.all([options.host.filesystem(options.rootDirectory, signal), isUp ? askRuntime(signal) : undefined]);
    if (host === undefined || options.clock.monotonic() - hostAtMs >= hostAgeMs) {
      host = await options.host.facts(signal);
      hostAtMs = options.clock.monotonic();
    }
    const pressures = options.strain.pressures.get();
    return {
      host,
      filesystem,
      addresses: options.addresses,
      hostname: options.hostname,
      kubeletPort: options.kubeletPort,
      kubeletVersion: options.kubeletVersion,
      runtimeVersion: version,
      runtimeName,
      images,
      devices: options.devices?.() ?? {},
      runtime: options.runtimeWatch.state.get(),
      pressures: {
        memoryPressure: pressures.includes('MemoryPressure'),
        diskPressure: pressures.includes('DiskPressure'),
        pidPressure: pressures.includes('PIDPressure'),
      },
      isShuttingDown: options.strain.isShuttingDown.get(),
    };
  };
}

/** Upstream's number: memory and huge pages may be added while the host runs. */
const hostAgeMs = 300_000;
/** Reports in quick succession, as at start, do not list the images each time. */
const imagesAgeMs = 9_000;
