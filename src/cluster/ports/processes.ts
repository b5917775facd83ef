/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since the host's start. */
  readonly startTicks: number;
}

export interface ProcessFacts extends ProcessIdentity {
  readonly parentPid: number;
  readonly command: readonly string[];
}

export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** Emptied first. */
  readonly stdoutFile: string;
  /** Appended to. */
  readonly stderrFile: string;
  /** Whether descriptor 3 is a pipe that closes when the launching process ends. */
  readonly lifeline: boolean;
}

export interface LaunchedProcess extends ProcessIdentity {
  /** How it ended, in words: `exit status 1`, `signal SIGKILL`. Never fails. */
  readonly ended: Promise<string>;
}

/** Programs and processes of the host. */
export interface HostProcesses {
  /** Runs a program to its end. @throws {NotFound} when it is not installed */
  run(program: string, args: readonly string[], input: string | Uint8Array, signal: AbortSignal): Promise<ProgramResult>;
  /** Starts a program that outlives this process, in a process group of its own, with this one's environment. @throws {NotFound} when it is not installed */
  launch(launch: Launch): Promise<LaunchedProcess>;
  /** Nothing when there is no such process, or only its remains. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  isAlive(process: ProcessIdentity): Promise<boolean>;
  /** To the whole group that `launch` made; a process that is gone is no error. */
  signalGroup(process: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** To that process alone. */
  signal(process: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Resolves when the process is gone, whoever started it. */
  whenGone(process: ProcessIdentity, signal: AbortSignal): Promise<void>;
  list(): Promise<readonly ProcessFacts[]>;
  /** Whether this process holds the capability, by its number. */
  hasCapability(number: number): Promise<boolean>;
}
