import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { RuntimeEvent } from '../cri/runtime-event.ts';
import { ContainerCreate, ContainerDelete, TaskExit, TaskOOM, TaskStart } from '../generated/containerd-events.ts';
import { EventsDefinition } from '../generated/containerd-services-events-v1.ts';
import { ImageCreate } from '../generated/containerd-services-images-v1.ts';
import type { Envelope } from '../generated/containerd-types.ts';
import type { GrpcChannel } from '../grpc/channel.ts';
import { GrpcFailure, grpcStatus } from '../grpc/failure.ts';

/** CRI keeps everything in this namespace of containerd. */
const namespace = 'k8s.io';
const headers = { 'containerd-namespace': namespace };
const probeTopic = '/kubernode/subscribed';
const topics = ['/tasks/start', '/tasks/exit', '/tasks/oom', '/containers/create', '/containers/delete', probeTopic];
const filters = [...topics.map((topic) => `namespace==${namespace},topic=="${topic}"`), `namespace==${namespace},topic~="^/images/"`];

/**
 * containerd's own event service. `connected` comes first, when the subscription is known to be in force.
 *
 * @throws {GrpcFailure} UNIMPLEMENTED from a runtime that is not containerd; another one when the stream broke
 */
export async function* containerdEvents(channel: GrpcChannel, clock: Clock, signal: AbortSignal): AsyncGenerator<RuntimeEvent, void, void> {
  const probing = new AbortController();
  // Not AbortSignal.any: what it joins to a long-lived signal is never let go, and a runtime that is away is asked ten times a second.
  const forget = onAbort(signal, () => probing.abort());
  let connected = false;
  const probes = probe(channel, clock, probing.signal);
  try {
    for await (const envelope of channel.stream(EventsDefinition, 'subscribe', { filters }, { headers }, signal)) {
      if (!connected) {
        connected = true;
        probing.abort();
        yield { kind: 'connected' };
      }
      const event = eventOf(envelope);
      if (event !== undefined) yield event;
    }
  } finally {
    forget();
    probing.abort();
    await probes;
  }
}

/**
 * A server stream says nothing until it has something to say. So an event of our own is published until any event arrives: from then on the
 * subscription is known to be in force, and what happened before is found by looking.
 */
async function probe(channel: GrpcChannel, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 200)) {
      const event = { typeUrl: 'google.protobuf.Empty', value: new Uint8Array() };
      try {
        await channel.call(EventsDefinition, 'publish', { topic: probeTopic, event }, { headers, timeoutMs: 2000 }, signal);
      } catch (error) {
        if (!(error instanceof GrpcFailure) || error.status === grpcStatus.unimplemented) return; // the stream itself reports it
      }
      await clock.sleep(waitMs, signal);
    }
  } catch {
    // Only the end of the wait comes here: the stream is connected, or given up.
  }
}

/** @returns nothing for events that tell of no container, sandbox or image, and for processes beside a container's first one */
export function eventOf(envelope: Envelope): RuntimeEvent | undefined {
  const value = envelope.event?.value ?? new Uint8Array();
  switch (envelope.topic) {
    case '/tasks/start':
      return { kind: 'started', id: TaskStart.decode(value).containerId };
    case '/tasks/exit': {
      const exit = TaskExit.decode(value);
      return exit.id === exit.containerId ? { kind: 'exited', id: exit.containerId } : undefined; // else an exec's process
    }
    case '/tasks/oom':
      return { kind: 'oom', id: TaskOOM.decode(value).containerId };
    case '/containers/create':
      return { kind: 'created', id: ContainerCreate.decode(value).id };
    case '/containers/delete':
      return { kind: 'deleted', id: ContainerDelete.decode(value).id };
    default: // create, update and delete all begin with the name
      return envelope.topic.startsWith('/images/') ? { kind: 'image', name: ImageCreate.decode(value).name } : undefined;
  }
}
