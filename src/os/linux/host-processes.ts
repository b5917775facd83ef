import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort, reasonOf } from '#base/abort.ts';
import { messageOf, NotFound, Unavailable } from '#base/errors.ts';
import type { HostProcesses, Launch, LaunchedProcess, ProcessIdentity, ProgramResult } from '#cluster/ports/processes.ts';
import { errnoOf } from './errno.ts';
import { linuxProcesses, type ProcessTable } from './process-table.ts';

/** Programs that this host runs, and the processes that its table tells of. */
export function createHostProcesses(table: ProcessTable = linuxProcesses): HostProcesses {
  const isAlive = (process: ProcessIdentity) => {
    const found = table.identify(process.pid);
    return found !== undefined && table.isSame(found, process);
  };
  return {
    run,
    launch: (request) => launch(request, table),
    identify: async (pid) => table.identify(pid),
    isAlive: async (process) => isAlive(process),
    signal: async (process, signal) => {
      if (isAlive(process)) kill(process.pid, signal);
    },
    signalGroup: async (process, signal) => {
      if (isAlive(process)) kill(-process.pid, signal);
    },
    whenGone: (process, signal) => whenGone(() => isAlive(process), signal),
    list: async () => table.list(),
    hasCapability: async (number) => table.hasCapability(number),
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

function launch(request: Launch, table: ProcessTable): Promise<LaunchedProcess> {
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
      resolve({ pid, startTicks: table.identify(pid)?.startTicks ?? 0, ended });
    });
  });
}

function startFailure(program: string, error: Error): Error {
  if (errnoOf(error) === 'ENOENT')
    return new NotFound({ message: `${program} is not installed`, hint: '`kubernode doctor` names the package', cause: error });
  return new Unavailable({ message: `${program} cannot be started: ${messageOf(error)}`, cause: error });
}

/** Not the child of this process, so the kernel tells nobody: it is looked at, more and more seldom. */
async function whenGone(isAlive: () => boolean, signal: AbortSignal): Promise<void> {
  for (let waitMs = 5; isAlive(); waitMs = Math.min(waitMs * 1.5, 250)) {
    await sleep(waitMs, undefined, { signal }).catch(() => {
      throw reasonOf(signal);
    });
  }
}

function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}
