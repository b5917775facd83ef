import { connect } from 'node:net';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { AppError, Unavailable } from '#base/errors.ts';
import { dialErrorText } from '../http/client-errors.ts';

/** Opens a connection and closes it. @throws {Unavailable} with Go's `dial tcp ...` text; what the signal was aborted with */
export function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const socket = connect({ host, port });
    const forget = onAbort(signal, () => socket.destroy(reasonOf(signal)));
    socket.once('close', forget);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', (error) =>
      reject(error instanceof AppError ? error : new Unavailable({ message: dialErrorText(error, host, port), cause: error })),
    );
  });
}
