import type { HostSockets } from '../ports/sockets.ts';

/** Whoever holds it may take ranges and ports of this host. */
const hostLock = '\0kubernode-host';

/** Runs `work` while no other `up` of this host does. Its holder's death frees it. */
export async function withHostLock<T>(sockets: HostSockets, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const held = await sockets.tryHold(hostLock);
    if (held !== undefined) {
      try {
        return await work();
      } finally {
        await held.close();
      }
    }
    await sockets.whenReleased(hostLock, signal);
  }
}
