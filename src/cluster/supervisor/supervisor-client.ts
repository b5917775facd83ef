import { Unavailable } from '#base/errors.ts';
import type { HostSockets, LineConnection } from '../ports/sockets.ts';
import type { PartSpec, PartStatus } from './part.ts';
import { decodeReply, encodeLine, type SupervisorReply, type SupervisorRequest } from './protocol.ts';

/** The parts as the supervisor sees them; nothing when there is no supervisor. */
export async function readPartStatus(sockets: HostSockets, socketPath: string, signal: AbortSignal): Promise<readonly PartStatus[] | undefined> {
  const reply = await ask(sockets, socketPath, { do: 'status' }, signal);
  return reply?.kind === 'status' ? reply.parts : undefined;
}

/** @throws {Unavailable} when there is no supervisor */
export async function ensureParts(sockets: HostSockets, socketPath: string, parts: readonly PartSpec[], signal: AbortSignal): Promise<void> {
  const reply = await ask(sockets, socketPath, { do: 'ensure', parts }, signal);
  if (reply?.kind !== 'done')
    throw new Unavailable({ message: 'the supervisor does not answer', hint: 'its log is supervisor.log in the data folder' });
}

/** No supervisor is no error. */
export async function quitSupervisor(sockets: HostSockets, socketPath: string, signal: AbortSignal): Promise<void> {
  await ask(sockets, socketPath, { do: 'quit' }, signal);
}

/** The status of the parts, now and after each change. @throws {Unavailable} when the supervisor ends */
export async function* followParts(sockets: HostSockets, socketPath: string, signal: AbortSignal): AsyncGenerator<readonly PartStatus[], void, void> {
  const connection = await sockets.connect(socketPath);
  if (connection !== undefined) {
    try {
      connection.send(encodeLine({ do: 'follow' }));
      for await (const reply of replies(connection, signal)) if (reply.kind === 'status') yield reply.parts;
    } finally {
      connection.close();
    }
  }
  throw new Unavailable({ message: 'the supervisor ended', hint: 'its log is supervisor.log in the data folder' });
}

async function ask(sockets: HostSockets, socketPath: string, request: SupervisorRequest, signal: AbortSignal): Promise<SupervisorReply | undefined> {
  const connection = await sockets.connect(socketPath);
  if (connection === undefined) return undefined;
  try {
    connection.send(encodeLine(request));
    for await (const reply of replies(connection, signal)) return reply;
    return undefined;
  } finally {
    connection.close();
  }
}

async function* replies(connection: LineConnection, signal: AbortSignal): AsyncGenerator<SupervisorReply, void, void> {
  for await (const line of connection.lines(signal)) {
    const reply = decodeReply(line);
    if (reply !== undefined) yield reply;
  }
}
