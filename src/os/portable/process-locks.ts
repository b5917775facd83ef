import { createHash } from 'node:crypto';
import { createConnection, createServer, type Socket } from 'node:net';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import type { HostSockets } from '#cluster/ports/sockets.ts';
import { errnoOf } from '../linux/errno.ts';

const address = '127.0.0.1';
/** Outside what systems give to connections by themselves. */
const [firstPort, ports] = [20_000, 10_000];
/** Other programs may sit on some of a name's ports. */
const tries = 8;
/** Whoever holds a lock says so at once; what says nothing is another program. */
const answerWithinMs = 500;

/**
 * Locks that a system gives back when their holder ends, where there are no abstract sockets: a port of the loopback address that follows
 * from the name. Its holder greets with the name.
 */
export const processLocks: Pick<HostSockets, 'tryHold' | 'whenReleased' | 'isHeld'> = {
  async tryHold(name) {
    for (const port of portsOf(name)) {
      const held = await listen(name, port);
      if (held !== undefined) return held;
      const holder = await holderAt(name, port);
      holder?.destroy();
      if (holder !== undefined) return undefined;
    }
    return undefined;
  },
  async isHeld(name) {
    const holder = await findHolder(name);
    holder?.destroy();
    return holder !== undefined;
  },
  async whenReleased(name, signal) {
    throwIfAborted(signal);
    const holder = await findHolder(name);
    if (holder === undefined) return;
    await new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, () => holder.destroy());
      holder.resume();
      holder.on('close', () => {
        forget();
        if (signal.aborted) reject(reasonOf(signal));
        else resolve();
      });
    });
  },
};

function portsOf(name: string): readonly number[] {
  const hash = createHash('sha256').update(name).digest();
  return Array.from({ length: tries }, (_, at) => firstPort + (hash.readUInt16BE(2 * at) % ports));
}

async function findHolder(name: string): Promise<Socket | undefined> {
  for (const port of portsOf(name)) {
    const holder = await holderAt(name, port);
    if (holder !== undefined) return holder;
  }
  return undefined;
}

function listen(name: string, port: number): Promise<{ close(): Promise<void> } | undefined> {
  return new Promise((resolve, reject) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined); // who asked went away
      socket.write(greeting(name));
    });
    const close = () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((done) => server.close(() => done()));
    };
    server.on('error', (error) => (errnoOf(error) === 'EADDRINUSE' || errnoOf(error) === 'EACCES' ? resolve(undefined) : reject(error)));
    server.listen({ host: address, port, exclusive: true }, () => resolve({ close }));
  });
}

/** @returns an open connection to the holder of the lock, if it is the one who listens there */
function holderAt(name: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port });
    let heard = '';
    const end = (holder: Socket | undefined) => {
      socket.setTimeout(0);
      socket.removeListener('data', listenFor);
      if (holder === undefined) socket.destroy();
      resolve(holder);
    };
    const listenFor = (chunk: Buffer) => {
      heard += chunk.toString('utf8');
      if (heard.includes('\n')) end(heard === greeting(name) ? socket : undefined);
    };
    socket.setTimeout(answerWithinMs, () => end(undefined));
    socket.on('data', listenFor);
    socket.on('error', () => end(undefined));
    socket.on('close', () => end(undefined));
  });
}

function greeting(name: string): string {
  return `kubernode lock ${JSON.stringify(name)}\n`;
}
