import { readFileSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { Channel } from '#base/channel.ts';
import type { HostSockets, LineConnection, Listener } from '#cluster/ports/sockets.ts';
import { errnoOf } from './errno.ts';

/** Unix sockets of Linux; a name that begins with a zero byte is abstract: the kernel frees it with its holder. */
export function createHostSockets(): HostSockets {
  return {
    serve,
    connect: async (path) => {
      const socket = await open(path);
      return socket === undefined ? undefined : lineConnection(socket);
    },
    async tryHold(name) {
      try {
        return await listen(name, (socket) => socket.resume().on('error', () => undefined));
      } catch (error) {
        if (errnoOf(error) === 'EADDRINUSE') return undefined;
        throw error;
      }
    },
    whenReleased,
    async isHeld(name) {
      const socket = await open(name);
      socket?.destroy();
      return socket !== undefined;
    },
    listening: async () => listeningSockets(),
  };
}

async function serve(path: string, onConnection: (connection: LineConnection) => void): Promise<Listener> {
  const stale = await open(path);
  if (stale === undefined) rmSync(path, { force: true });
  stale?.destroy();
  return await listen(path, (socket) => onConnection(lineConnection(socket)));
}

function listen(name: string, onSocket: (socket: Socket) => void): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      onSocket(socket);
    });
    server.on('error', reject);
    server.listen(name, () => resolve({ close: () => close(server, sockets) }));
  });
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroySoon();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** A listener that is ending resets who connects in its last moment. */
const notListening: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EACCES']);

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error) => {
      const errno = errnoOf(error);
      if (errno !== undefined && notListening.has(errno)) resolve(undefined);
      else reject(error);
    });
  });
}

/** Connects to the lock and waits for the end of the connection, which comes with the end of the holder. */
async function whenReleased(name: string, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  const socket = await open(name);
  if (socket === undefined) return;
  await new Promise<void>((resolve, reject) => {
    const forget = onAbort(signal, () => socket.destroy());
    socket.resume();
    socket.on('error', () => undefined); // a reset is an end too
    socket.on('close', () => {
      forget();
      if (signal.aborted) reject(reasonOf(signal));
      else resolve();
    });
  });
}

function lineConnection(socket: Socket): LineConnection {
  const queue = new Channel<string>();
  const reader = createInterface({ input: socket });
  // A reset is an end like any other. The reader passes the socket's error on, and does not end by itself after one.
  for (const emitter of [socket, reader]) emitter.on('error', () => undefined);
  socket.on('close', () => reader.close());
  reader.on('line', (line) => queue.push(line));
  reader.on('close', () => queue.close());
  return {
    send: (line) => void (socket.writable && socket.write(`${line}\n`)),
    lines: (signal) => queue.take(signal),
    close: () => socket.destroySoon(),
  };
}

/** Source: `/proc/net/unix`: flag 0x10000 marks a listener, `@` an abstract name. */
function listeningSockets(): readonly string[] {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const name = fields.slice(7).join(' ');
      return fields[3] === '00010000' && name !== '' ? [name.startsWith('@') ? `\0${name.slice(1)}` : name] : [];
    });
}
