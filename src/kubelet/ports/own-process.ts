/** The process in which the kubelet runs, for those who debug it. */
export interface OwnProcessPort {
  readonly commandLine: readonly string[];
  /** Watches where the time goes. @returns JSON as V8's tools read it @throws {Cancelled} */
  cpuProfile(durationMs: number, signal: AbortSignal): Promise<string>;
  /** Klog's scale: from 4 on every step is told. */
  setVerbosity(level: number): void;
}
