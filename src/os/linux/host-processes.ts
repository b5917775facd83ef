import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort, reasonOf } from '#base/abort.ts';
import { messageOf, NotFound, Unavailable } from '#base/errors.ts';
import type { HostProcesses, Launch, LaunchedProcess, ProcessFacts, ProcessIdentity, ProgramResult } from '#cluster/ports/processes.ts';
import { errnoOf } from './errno.ts';

/** Processes of Linux, known by pid and start time. */
export function createHostProcesses(): HostProcesses {
  return {
    run,
    launch,
    identify: async (pid) => readStat(pid),
    isAlive: async (process) => isAlive(process),
    signal: async (process, signal) => {
      if (isAlive(process)) kill(process.pid, signal);
    },
    signalGroup: async (process, signal) => {
      if (isAlive(process)) kill(-process.pid, signal);
    },
    whenGone,
    list: async () =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((name) => readFacts(Number(name))),
    hasCapability: async (number) => {
      const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
      return ((BigInt(`0x${effective}`) >> BigInt(number)) & 1n) === 1n;
    },
  };
}

function run(program: string, args: readonly string[], input: string | Uint8Array, signal: AbortSignal): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => undefined); // it ended without reading all; its status tells why
    child.stdin.end(input);
    const forget = onAbort(signal, () => child.kill('SIGKILL'));
    child.on('error', (error) => {
      forget();
      reject(startFailure(program, error));
    });
    child.on('close', (code) => {
      forget();
      if (signal.aborted) reject(reasonOf(signal));
      else resolve({ status: code ?? 128, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

function launch(request: Launch): Promise<LaunchedProcess> {
  const stdout = openSync(request.stdoutFile, 'w', 0o600);
  const stderr = openSync(request.stderrFile, 'a', 0o600);
  const child = spawn(request.program, request.args, {
    detached: true,
    cwd: '/',
    stdio: ['ignore', stdout, stderr, ...(request.lifeline ? (['pipe'] as const) : [])],
  });
  closeSync(stdout);
  closeSync(stderr);
  const ended = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal === null ? `exit status ${code}` : `signal ${signal}`));
  });
  child.unref();
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(startFailure(request.program, error)));
    child.on('spawn', () => {
      const pid = child.pid ?? 0;
      // One that ended already left no start time; any other value than its own marks it as gone.
      resolve({ pid, startTicks: readStat(pid)?.startTicks ?? 0, ended });
    });
  });
}

function startFailure(program: string, error: Error): Error {
  if (errnoOf(error) === 'ENOENT')
    return new NotFound({ message: `${program} is not installed`, hint: '`kubernode doctor` names the package', cause: error });
  return new Unavailable({ message: `${program} cannot be started: ${messageOf(error)}`, cause: error });
}

/** Not the child of this process, so the kernel tells nobody: it is looked at, more and more seldom. */
async function whenGone(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
  for (let waitMs = 5; isAlive(process); waitMs = Math.min(waitMs * 1.5, 250)) {
    await sleep(waitMs, undefined, { signal }).catch(() => {
      throw reasonOf(signal);
    });
  }
}

function isAlive(process: ProcessIdentity): boolean {
  return readStat(process.pid)?.startTicks === process.startTicks;
}

function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

/** Source: proc(5). The name, in brackets, may hold anything. A zombie counts as gone. */
function readStat(pid: number): (ProcessIdentity & { readonly parentPid: number }) | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid] = fields;
  return state === 'Z' || state === 'X' ? undefined : { pid, parentPid: Number(parentPid), startTicks: Number(fields[19]) };
}

function readFacts(pid: number): readonly ProcessFacts[] {
  const stat = readStat(pid);
  if (stat === undefined) return [];
  try {
    return [{ ...stat, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1) }];
  } catch {
    return []; // ended meanwhile
  }
}
