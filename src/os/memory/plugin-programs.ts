import { onAbort, reasonOf } from '#base/abort.ts';
import { type PluginProgramsPort, type PluginRun, ProgramFailed } from '#kubelet/ports/plugin-programs.ts';

export interface MemoryProgramEnd {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

export type MemoryProgram = (run: PluginRun) => Promise<MemoryProgramEnd>;

/** Programs that are functions; `runs` has what was asked of them. */
export class MemoryPluginPrograms implements PluginProgramsPort {
  readonly runs: PluginRun[] = [];
  readonly #programs: ReadonlyMap<string, MemoryProgram>;

  constructor(programs: Readonly<Record<string, MemoryProgram>>) {
    this.#programs = new Map(Object.entries(programs));
  }

  async run(request: PluginRun, signal: AbortSignal): Promise<string> {
    this.runs.push(request);
    const program = this.#programs.get(request.program);
    if (program === undefined) throw new ProgramFailed({ message: `spawn ${request.program} ENOENT` });
    let forget: () => void = () => undefined;
    const aborted = new Promise<never>((_, reject) => {
      forget = onAbort(signal, () => reject(reasonOf(signal)));
    });
    try {
      const { code, stdout = '', stderr = '' } = await Promise.race([program(request), aborted]);
      if (code !== 0) throw new ProgramFailed({ message: `exit status ${code}: ${stderr}` });
      return stdout;
    } finally {
      forget();
    }
  }
}
