/** What systemd is told of a slice, by the names of its own properties. */
export type SliceProperties = Readonly<Record<string, bigint>>;

/** Slices of systemd, by their last name: `kubepods-burstable.slice`. */
export interface SlicesPort {
  /** false: systemd does not run this host, and slices are folders like others. */
  isThere(signal: AbortSignal): Promise<boolean>;
  /** Makes the slice, or changes the one that is there. @throws {AppError} when systemd does not answer, or refuses */
  ensure(name: string, properties: SliceProperties, signal: AbortSignal): Promise<void>;
  /** One that is not there is no error. */
  stop(name: string, signal: AbortSignal): Promise<void>;
}
