/** A process that the supervisor keeps running. */
export interface PartSpec {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly stdoutFile: string;
  /** Rotated. */
  readonly logFile: string;
  /** Whether the part prints `{"ready":true}` on stdout when it serves; one that does not counts as ready when it runs. */
  readonly saysReady: boolean;
  /** Between two launches; a part that ends again and again waits twice as long each time, up to this. */
  readonly longestPauseMs: number;
}

// waiting --launch--> starting --ready--> ready
//    ^--------- end -----'-------- end -----'
export type PartPhase = 'waiting' | 'starting' | 'ready';

export interface PartStatus {
  readonly name: string;
  readonly phase: PartPhase;
  readonly pid: number | undefined;
  readonly startedAtMs: number | undefined;
  /** Launches after the first one. */
  readonly restarts: number;
  /** How it ended last. */
  readonly lastEnd: string | undefined;
  /** Why it could not be launched. */
  readonly problem: string | undefined;
}

export function isReadyLine(text: string): boolean {
  return text.split('\n').some((line) => line.trim() === '{"ready":true}');
}

export function sameSpec(left: PartSpec, right: PartSpec): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
