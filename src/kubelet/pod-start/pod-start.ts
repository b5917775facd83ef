import type { ImagesPort } from '../ports/images.ts';
import type { NodeRoomPort } from '../ports/node-room.ts';
import type { PodCgroupsPort } from '../ports/pod-cgroups.ts';
import type { PodDirectoriesPort } from '../ports/pod-directories.ts';
import type { PodRuntimePort } from '../ports/pod-runtime.ts';
import type { StatusPort } from '../ports/status.ts';
import type { VolumesPort } from '../ports/volumes.ts';
import type { PodFacts } from './facts.ts';
import { Pipeline } from './step.ts';
import { actions } from './steps/actions.ts';
import { admit } from './steps/admit.ts';
import { cgroups } from './steps/cgroups.ts';
import { cni } from './steps/cni.ts';
import { containers } from './steps/containers.ts';
import { directories } from './steps/directories.ts';
import { imagesAhead } from './steps/images-ahead.ts';
import { initContainers } from './steps/init-containers.ts';
import { kill } from './steps/kill.ts';
import { network } from './steps/network.ts';
import { sandbox } from './steps/sandbox.ts';
import { status } from './steps/status.ts';
import { volumes } from './steps/volumes.ts';

/** What the start of a pod needs of the world. */
export interface KubeletPorts {
  readonly node: NodeRoomPort;
  readonly runtime: PodRuntimePort;
  readonly cgroups: PodCgroupsPort;
  readonly files: PodDirectoriesPort;
  readonly volumes: VolumesPort;
  readonly images: ImagesPort;
  readonly status: StatusPort;
}

/** How a pod starts, from top to bottom. Its end walks the same list backwards. */
export const podStart = (ports: KubeletPorts) =>
  Pipeline.startingFrom<PodFacts>()
    .andThen(admit(ports.node))
    .andThen(network(ports.runtime))
    .andThen(cgroups(ports.cgroups))
    .andThen(directories(ports.files))
    .andBeside(volumes(ports.volumes), imagesAhead(ports.images))
    .andThen(actions)
    .andThen(kill(ports.runtime))
    .andThen(sandbox(ports.runtime))
    .andThen(cni(ports.runtime))
    .andThen(initContainers(ports.runtime))
    .andThen(containers(ports.runtime))
    .andThen(status(ports.status));
