import type { Clock } from '#base/clock.ts';
import { messageOf, Unavailable } from '#base/errors.ts';
import { containerdEvents } from '../containerd/container-events.ts';
import { ContainerEventType, RuntimeServiceDefinition } from '../generated/cri.ts';
import type { GrpcChannel } from '../grpc/channel.ts';
import { GrpcFailure, grpcStatus } from '../grpc/failure.ts';
import { Unsupported } from './errors.ts';
import type { RuntimeEvent } from './runtime-event.ts';

/**
 * containerd's own events where they are wanted and offered, else those of CRI.
 *
 * @throws {Unsupported} when there are neither; {Unavailable} when the stream broke
 */
export async function* runtimeEvents(
  channel: GrpcChannel,
  containerd: boolean | 'auto',
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void, void> {
  if (containerd !== false) {
    try {
      yield* containerdEvents(channel, clock, signal);
      throw new Unavailable({ message: 'the stream of runtime events ended' });
    } catch (error) {
      const isMissing = error instanceof GrpcFailure && error.status === grpcStatus.unimplemented;
      if (!isMissing || containerd === true) throw translate(error);
    }
  }
  try {
    yield* criEvents(channel, signal);
    throw new Unavailable({ message: 'the stream of runtime events ended' });
  } catch (error) {
    throw translate(error);
  }
}

async function* criEvents(channel: GrpcChannel, signal: AbortSignal): AsyncGenerator<RuntimeEvent, void, void> {
  let connected = false;
  for await (const event of channel.stream(RuntimeServiceDefinition, 'getContainerEvents', {}, {}, signal)) {
    // CRI has no sign that a subscription is in force before its first event.
    if (!connected) yield { kind: 'connected' };
    connected = true;
    yield { kind: kindOf(event.containerEventType), id: event.containerId };
  }
}

function kindOf(type: ContainerEventType): 'created' | 'started' | 'exited' | 'deleted' {
  switch (type) {
    case ContainerEventType.CONTAINER_CREATED_EVENT:
      return 'created';
    case ContainerEventType.CONTAINER_STARTED_EVENT:
      return 'started';
    case ContainerEventType.CONTAINER_STOPPED_EVENT:
      return 'exited';
    default:
      return 'deleted';
  }
}

function translate(error: unknown): unknown {
  if (!(error instanceof GrpcFailure)) return error;
  if (error.status === grpcStatus.unimplemented) return new Unsupported({ message: 'the container runtime offers no events', cause: error });
  return new Unavailable({ message: `the stream of runtime events broke: ${messageOf(error)}`, cause: error });
}
