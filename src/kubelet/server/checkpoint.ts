import type { Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import type { HttpResponse } from '#wire/http/server.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { jsonAnswer, Refusal } from './answer.ts';
import type { ContainerTarget } from './kubelet-route.ts';
import { runningContainer } from './streams.ts';

export interface CheckpointPort {
  readonly runtime: Pick<RuntimePort, 'listContainers' | 'checkpointContainer'>;
  readonly files: Pick<FilesPort, 'ensureDirectory'>;
  /** `checkpoints` below the kubelet's root. */
  readonly directory: string;
  readonly now: () => number;
}

/** `POST /checkpoint/...`: the container's state goes to an archive on the node. */
export async function checkpoint(
  port: CheckpointPort,
  pod: Pod | undefined,
  target: ContainerTarget,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { namespace, pod: name, container } = target;
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const names = [...containers, ...initContainers, ...ephemeralContainers].map((one) => one.name);
  if (!names.includes(container)) throw new Refusal(404, `container ${container} does not exist`);
  const timeout = query.getAll('timeout').at(-1) ?? '0';
  if (!/^-?\d+$/.test(timeout)) throw new Refusal(404, 'cannot parse value of timeout parameter');
  const time = new Date(port.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const location = `${port.directory}/checkpoint-${name}_${namespace}-${container}-${time}.tar`;
  try {
    const { id } = await runningContainer(port.runtime, pod, { container, uid: undefined }, `container ${container} not found`, signal);
    await port.files.ensureDirectory(port.directory, 0o700, signal);
    await port.runtime.checkpointContainer(id, location, Number(timeout), signal);
  } catch (error) {
    throw new Refusal(500, `checkpointing of ${namespace}/${name}/${container} failed (${messageOf(error)})`);
  }
  return jsonAnswer({ items: [location] });
}
