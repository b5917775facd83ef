import { spawn } from 'node:child_process';
import { onAbort, reasonOf } from '#base/abort.ts';
import { messageOf } from '#base/errors.ts';
import { type PluginProgramsPort, type PluginRun, ProgramFailed } from '#kubelet/ports/plugin-programs.ts';

/** More than any answer: a program that writes without end must not fill the memory. */
const usualMostBytes = 1 << 20;

/** @param environment of every program, below what its own request sets */
export function createPluginPrograms(environment: Readonly<Record<string, string | undefined>>): PluginProgramsPort {
  return { run: (request, signal) => run(request, environment, signal) };
}

function run(
  { program, args, env, stdin, mostBytes = usualMostBytes }: PluginRun,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own: what the program has started dies with it.
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...environment, ...env }, detached: true });
    const output = { stdout: '', stderr: '' };
    let end: Error | undefined;
    const kill = (why: Error) => {
      end ??= why;
      killGroup(child.pid);
      // A descendant that left the group keeps the pipes open: their end is not waited for.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        output[name] += chunk;
        if (output[name].length > mostBytes) kill(new ProgramFailed({ message: `more than ${mostBytes} bytes on ${name}` }));
      });
    }
    child.stdin.on('error', () => undefined); // it ended without reading all; its status tells why
    child.stdin.end(stdin);
    const forget = onAbort(signal, () => kill(reasonOf(signal)));
    child.on('error', (cause) => {
      forget();
      reject(new ProgramFailed({ message: messageOf(cause), cause }));
    });
    child.on('close', (code, killedBy) => {
      forget();
      if (end !== undefined) return reject(end);
      if (code === 0) return resolve(output.stdout);
      const how = killedBy === null ? `exit status ${code}` : `signal: ${killedBy}`;
      return reject(new ProgramFailed({ message: `${how}: ${output.stderr}` }));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
