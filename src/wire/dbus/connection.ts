import { connect, type Socket } from 'node:net';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, InvalidInput, messageOf, Unavailable } from '#base/errors.ts';
import { type DBusCall, type DBusMessage, type DBusValue, decodeMessage, encodeCall, messageLength } from './marshal.ts';

/** The other side answered with an error. */
export class DBusFailed extends AppError {
  readonly code = 'DBUS_FAILED';
  readonly retry = 'backoff';
  /** `org.freedesktop.systemd1.NoSuchUnit` and so on. */
  readonly errorName: string;

  constructor({ errorName, body }: Pick<DBusMessage, 'errorName' | 'body'>) {
    super({ message: `${errorName}: ${body.join(' ')}` });
    this.errorName = errorName ?? '';
  }
}

export interface DBusOptions {
  /** As in DBUS_SYSTEM_BUS_ADDRESS: `unix:path=/run/dbus/system_bus_socket`, or several, of which the first that we can reach counts. */
  readonly address: string;
  readonly clock: Clock;
  /** There is no bus between: systemd's own socket is one. */
  readonly isPeer?: boolean;
  /** Whether answers may have open files attached, which only `goDeaf` can keep. */
  readonly takesFiles?: boolean;
}

/** Of one call. */
const patienceMs = 10_000;

/** A connection to a message bus. */
export class DBusConnection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #pending = new Map<number, { resolve(body: readonly DBusValue[]): void; reject(error: Error): void }>();
  readonly #signals = new Set<(message: DBusMessage) => void>();
  readonly #closed = new Set<() => void>();
  #received = Buffer.alloc(0);
  #serial = 0;
  #isDeaf = false;
  #isOpen = true;
  /** While the two sides agree on who we are the bus speaks in lines. */
  #line: { resolve(line: string): void; reject(error: Error): void } | undefined;

  private constructor(path: string, clock: Clock) {
    this.#clock = clock;
    const buffer = Buffer.alloc(1 << 16);
    this.#socket = connect({
      path,
      // In this mode a pause takes effect at once: see `goDeaf`.
      onread: {
        buffer,
        callback: (length) => {
          this.#receive(Buffer.from(buffer.subarray(0, length)));
          return !this.#isDeaf;
        },
      },
    });
    this.#socket.on('error', (cause) => this.#lose(new Unavailable({ message: `the bus at ${path}: ${messageOf(cause)}`, cause })));
    this.#socket.on('close', () => this.#lose(new Unavailable({ message: `the bus at ${path} has closed the connection` })));
  }

  /** @throws {Unavailable}, {InvalidInput} for an address that names no socket */
  static async open({ address, clock, takesFiles = false, isPeer = false }: DBusOptions, signal: AbortSignal): Promise<DBusConnection> {
    const connection = new DBusConnection(socketPath(address), clock);
    try {
      await withDeadline('the greeting of the bus', patienceMs, clock, signal, () => connection.#greet(takesFiles, isPeer));
      connection.#socket.unref(); // who listens to a bus does not keep the process alive by it; who has asked it something does
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** @throws {DBusFailed}, {Unavailable}, {DeadlineExceeded} */
  async call(call: DBusCall, signal: AbortSignal): Promise<readonly DBusValue[]> {
    const serial = this.#next();
    const answer = new Promise<readonly DBusValue[]>((resolve, reject) => this.#pending.set(serial, { resolve, reject }));
    try {
      this.#socket.ref();
      this.#write(encodeCall(call, serial));
      return await withDeadline(`${call.member} over the bus`, patienceMs, this.#clock, signal, () => answer);
    } finally {
      this.#pending.delete(serial);
      if (this.#pending.size === 0) this.#socket.unref();
    }
  }

  /** For a call after `goDeaf`: its answer is never seen. */
  send(call: DBusCall): void {
    this.#write(encodeCall(call, this.#next()));
  }

  /**
   * Reads nothing from now on, so that open files which the other side attaches to its answers stay open: they wait in the socket until it
   * is closed. Node.js cannot receive them: reading such an answer would close them.
   */
  goDeaf(): void {
    this.#isDeaf = true;
    this.#socket.pause();
  }

  onSignal(listener: (message: DBusMessage) => void): void {
    this.#signals.add(listener);
  }

  /** Called once, at once if it is lost already. */
  onClosed(listener: () => void): void {
    if (this.#isOpen) this.#closed.add(listener);
    else listener();
  }

  /** May be called twice. */
  close(): void {
    this.#lose(new Unavailable({ message: 'the connection to the bus is closed' }));
  }

  async #greet(takesFiles: boolean, isPeer: boolean): Promise<void> {
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    await this.#ask(`\0AUTH EXTERNAL ${uid}`, 'OK ');
    if (takesFiles) await this.#ask('NEGOTIATE_UNIX_FD', 'AGREE_UNIX_FD');
    this.#write(Buffer.from('BEGIN\r\n'));
    if (isPeer) return;
    const bus = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' };
    await this.call({ ...bus, member: 'Hello' }, new AbortController().signal); // our caller has the deadline and the signal
  }

  async #ask(line: string, expected: string): Promise<void> {
    const answer = await new Promise<string>((resolve, reject) => {
      this.#line = { resolve, reject };
      this.#write(Buffer.from(`${line}\r\n`));
    });
    if (!answer.startsWith(expected)) throw new Unavailable({ message: `the bus does not let us in: ${answer}` });
  }

  #next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  #write(bytes: Buffer): void {
    if (!this.#isOpen) throw new Unavailable({ message: 'the connection to the bus is lost' });
    this.#socket.write(bytes);
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    try {
      while (this.#takeLine() || this.#takeMessage());
    } catch (error) {
      this.#lose(error instanceof AppError ? error : new Unavailable({ message: 'the bus sends what is no message', cause: error }));
    }
  }

  #takeLine(): boolean {
    const waiting = this.#line;
    const end = waiting === undefined ? -1 : this.#received.indexOf('\r\n');
    if (waiting === undefined || end < 0) return false;
    this.#line = undefined;
    const line = this.#received.toString('latin1', 0, end);
    this.#received = this.#received.subarray(end + 2);
    waiting.resolve(line);
    return true;
  }

  #takeMessage(): boolean {
    if (this.#line !== undefined) return false;
    const length = messageLength(this.#received);
    if (length === undefined || this.#received.length < length) return false;
    const message = decodeMessage(this.#received.subarray(0, length));
    this.#received = this.#received.subarray(length);
    if (message.type === 'signal') for (const listener of this.#signals) listener(message);
    const waiting = this.#pending.get(message.replySerial ?? 0);
    if (message.type === 'reply') waiting?.resolve(message.body);
    if (message.type === 'error') waiting?.reject(new DBusFailed(message));
    return true;
  }

  #lose(error: AppError): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.destroy();
    this.#line?.reject(error);
    for (const { reject } of this.#pending.values()) reject(error);
    for (const listener of this.#closed) listener();
  }
}

/** @throws {InvalidInput} */
function socketPath(address: string): string {
  for (const one of address.split(';')) {
    const [, path] = /^unix:(?:.*,)?path=([^,]+)/.exec(one) ?? [];
    if (path !== undefined) return decodeURIComponent(path);
  }
  throw new InvalidInput({ message: `${address} is no address of a bus that we can reach`, hint: 'give unix:path=/run/dbus/system_bus_socket' });
}
