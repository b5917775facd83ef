import { AppError } from '#base/errors.ts';

export interface PluginRun {
  readonly program: string;
  readonly args: readonly string[];
  /** Over the kubelet's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** It is killed when it writes more; absent: 1 MiB. */
  readonly mostBytes?: number;
}

/** Programs of others that the kubelet asks and that answer once. */
export interface PluginProgramsPort {
  /**
   * @returns what the program wrote to its stdout
   * @throws {ProgramFailed} when it cannot be run or does not end well, with what it wrote to its stderr; {Cancelled}: it is killed
   */
  run(request: PluginRun, signal: AbortSignal): Promise<string>;
}

export class ProgramFailed extends AppError {
  readonly code = 'PROGRAM_FAILED';
  readonly retry = 'backoff';
}
