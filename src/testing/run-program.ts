import { spawn } from 'node:child_process';

export interface ProgramResult {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What the program reads; nothing by default. */
  readonly input?: string;
}

/** Runs a program to its end; after `timeoutMs` it is killed, and the result says so on its stderr. */
export function runProgram(words: readonly string[], timeoutMs: number, options: RunOptions = {}): Promise<ProgramResult> {
  const [command = '', ...args] = words;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], cwd: options.cwd, env: { ...process.env, ...options.env } });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    child.stdout.on('data', (chunk: Buffer) => chunks.stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
    child.stdin.on('error', () => undefined); // it ended without reading all of its input
    child.stdin.end(options.input ?? '');
    let late = '';
    const timer = setTimeout(() => {
      late = `\n${words.join(' ')} was killed after ${timeoutMs} ms`;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: Buffer.concat(chunks.stdout).toString('utf8'), stderr: Buffer.concat(chunks.stderr).toString('utf8') + late });
    });
  });
}
