import { onAbort, reasonOf } from '#base/abort.ts';
import { Backoff } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { HostFiles } from '../ports/files.ts';
import type { HostProcesses, LaunchedProcess, ProcessIdentity } from '../ports/processes.ts';
import { isReadyLine, type PartSpec, type PartStatus } from './part.ts';
import { liveProcess, writeProcessFile } from './process-file.ts';

export interface KeeperPorts {
  readonly files: HostFiles;
  readonly processes: HostProcesses;
  readonly clock: Clock;
  readonly log: Logger;
}

const firstPauseMs = 100;
const forgetAfterMs = 60_000;
const maxLogBytes = 16 * 1024 * 1024;

/** Keeps one part running: finds it or launches it, waits for its end, launches it again after a while. */
export class PartKeeper {
  readonly spec: PartSpec;
  readonly #ports: KeeperPorts;
  readonly #processFile: string;
  readonly #backoff: Backoff;
  readonly #status: Cell<PartStatus>;

  constructor(spec: PartSpec, processFile: string, ports: KeeperPorts) {
    this.spec = spec;
    this.#ports = ports;
    this.#processFile = processFile;
    const { longestPauseMs } = spec;
    this.#backoff = new Backoff({ baseMs: Math.min(firstPauseMs, longestPauseMs), maxMs: longestPauseMs, forgetAfterMs }, ports.clock);
    this.#status = new Cell<PartStatus>({
      name: spec.name,
      phase: 'waiting',
      pid: undefined,
      startedAtMs: undefined,
      restarts: 0,
      lastEnd: undefined,
      problem: undefined,
    });
  }

  get status(): Watchable<PartStatus> {
    return this.#status;
  }

  /** Until the signal is aborted; the part itself goes on. @throws {Cancelled} then */
  async keep(signal: AbortSignal): Promise<void> {
    for (let round = 0; ; round += 1) {
      const process = await this.#findOrLaunch(round);
      if (process !== undefined) await this.#follow(process, signal);
      await this.#ports.clock.sleep(this.#backoff.advance(this.spec.name), signal);
    }
  }

  async #findOrLaunch(round: number): Promise<FollowedProcess | undefined> {
    const { files, processes, log } = this.#ports;
    const found = await liveProcess(files, processes, this.#processFile);
    if (found !== undefined) {
      log.info('part adopted', { part: this.spec.name, pid: found.pid });
      return { ...found, ended: undefined };
    }
    try {
      await files.rotate(this.spec.logFile, maxLogBytes);
      const { program, args, stdoutFile, logFile } = this.spec;
      const launched = await processes.launch({ program, args, stdoutFile, stderrFile: logFile, lifeline: this.spec.saysReady });
      await writeProcessFile(files, this.#processFile, launched);
      this.#change({ restarts: this.#status.get().restarts + (round === 0 ? 0 : 1), problem: undefined });
      log.info('part launched', { part: this.spec.name, pid: launched.pid });
      return launched;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.error('part not launched', { part: this.spec.name, code: error.code, error: error.message });
      this.#change({ problem: messageOf(error) });
      return undefined;
    }
  }

  async #follow(process: FollowedProcess, signal: AbortSignal): Promise<void> {
    const { files, clock, log } = this.#ports;
    this.#change({ phase: this.spec.saysReady ? 'starting' : 'ready', pid: process.pid, startedAtMs: clock.now() });
    const watching = new AbortController();
    const stop = AbortSignal.any([signal, watching.signal]);
    const ready = this.spec.saysReady
      ? files.waitForText(this.spec.stdoutFile, isReadyLine, stop).then(() => this.#change({ phase: 'ready' }))
      : Promise.resolve();
    const rotating = this.#rotateLog(stop);
    try {
      const lastEnd = await this.#endOf(process, signal);
      log.warn('part ended', { part: this.spec.name, pid: process.pid, how: lastEnd });
      this.#change({ phase: 'waiting', pid: undefined, lastEnd });
    } finally {
      watching.abort();
      await Promise.allSettled([ready, rotating]); // both end with the wait that was just given up
    }
  }

  async #endOf(process: FollowedProcess, signal: AbortSignal): Promise<string> {
    if (process.ended === undefined) {
      await this.#ports.processes.whenGone(process, signal);
      return 'gone';
    }
    const { ended } = process;
    return await new Promise((resolve, reject) => {
      const forget = onAbort(signal, () => reject(reasonOf(signal)));
      void ended.then(resolve).finally(forget); // `ended` never fails
    });
  }

  async #rotateLog(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#ports.clock.sleep(60_000, signal);
      await this.#ports.files.rotate(this.spec.logFile, maxLogBytes);
    }
  }

  #change(change: Partial<PartStatus>): void {
    this.#status.set({ ...this.#status.get(), ...change });
  }
}

type FollowedProcess = ProcessIdentity & { readonly ended: LaunchedProcess['ended'] | undefined };
