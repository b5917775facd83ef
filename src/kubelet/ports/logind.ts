/** The host's login manager, as the one who knows that the host is about to go down. */
export interface LogindPort {
  /** @throws {Unavailable} where there is none */
  connect(signal: AbortSignal): Promise<LogindSession>;
}

export interface LogindSession {
  /** How long a lock can hold up a shutdown at most. */
  inhibitDelayMs(signal: AbortSignal): Promise<number>;
  /** Asks it to read its configuration again; it has not done so yet when this is done. */
  reload(signal: AbortSignal): Promise<void>;
  /** Holds up shutdowns until the result is called or this process ends. */
  inhibit(signal: AbortSignal): Promise<() => void>;
  /** true: the host goes down. false: it does not after all. From the connection on; ends with it. One reader only. */
  announcements(signal: AbortSignal): AsyncIterable<boolean>;
  /** Locks are not given up by it. May be called twice. */
  close(): void;
}
