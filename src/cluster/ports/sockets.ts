/** One side of a conversation in lines of text over a unix socket. */
export interface LineConnection {
  send(line: string): void;
  /** Ends when the other side closes. */
  lines(signal: AbortSignal): AsyncIterable<string>;
  close(): void;
}

export interface Listener {
  close(): Promise<void>;
}

/** Unix sockets: conversations, and the kernel's own locks. */
export interface HostSockets {
  /** Listens; a socket file that nobody listens on any more is replaced. */
  serve(path: string, onConnection: (connection: LineConnection) => void): Promise<Listener>;
  /** Nothing when nobody listens there. */
  connect(path: string): Promise<LineConnection | undefined>;
  /**
   * Takes a lock that the kernel gives back when this process ends: an abstract socket.
   *
   * @returns nothing when another one has it
   */
  tryHold(name: string): Promise<Listener | undefined>;
  /** Resolves when its holder lets go, or at once when there is none. */
  whenReleased(name: string, signal: AbortSignal): Promise<void>;
  isHeld(name: string): Promise<boolean>;
  /** Names of abstract sockets and paths of sockets that someone listens on. */
  listening(): Promise<readonly string[]>;
}
