import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface TestLogind {
  /** For DBUS_SYSTEM_BUS_ADDRESS. */
  readonly address: string;
  announce(isShuttingDown: boolean): Promise<void>;
  /** Settles when so many locks hold up shutdowns. */
  untilLocks(count: number): Promise<void>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('./stub-parts/logind.py', import.meta.url));
const busConfig = (socket: string) => `<busconfig>
  <type>system</type>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>`;
const patienceMs = 15_000;

/** A message bus of the test's own (Debian's `dbus`), and a login manager on it that shuts nothing down. */
export async function startLogind(delaysMs: readonly [number, number]): Promise<TestLogind> {
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-logind-'));
  const socket = join(folder, 'bus');
  const address = `unix:path=${socket}`;
  await writeFile(join(folder, 'bus.conf'), busConfig(socket));
  const bus = new Part('dbus-daemon', ['--nofork', '--nopidfile', `--config-file=${join(folder, 'bus.conf')}`, '--print-address'], {});
  await bus.said((line) => line.startsWith('unix:'));
  const logind = new Part('/usr/bin/python3', [program, ...delaysMs.map(String)], { DBUS_SYSTEM_BUS_ADDRESS: address });
  await logind.said((line) => line === 'ready');
  return {
    address,
    async announce(isShuttingDown) {
      const told = logind.said((line) => line === 'announced', true);
      logind.process.stdin.write(`announce ${isShuttingDown}\n`);
      await told;
    },
    untilLocks: (count) =>
      count === 0 && !logind.lines.some((line) => line.startsWith('locks')) ? Promise.resolve() : logind.lastSaid('locks', `locks ${count}`),
    async stop() {
      await logind.stop();
      await bus.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A program and what it says on its standard output. */
class Part {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  readonly #told = new Set<() => void>();
  readonly #ended: Promise<void>;
  #errors = '';

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.process = spawn(command, args, { env: { ...process.env, ...env } });
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      this.lines.push(line);
      for (const tell of this.#told) tell();
    });
    this.process.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    this.process.on('error', (error) => {
      this.#errors += error.message;
    });
    this.#ended = new Promise((resolve) => this.process.on('close', () => resolve()));
  }

  /** @param fromNow passes over what was said before */
  said(accept: (line: string) => boolean, fromNow = false): Promise<void> {
    const first = fromNow ? this.lines.length : 0;
    return this.#until(() => this.lines.slice(first).some(accept));
  }

  /** Settles when the last line of those that begin so is that one. */
  lastSaid(prefix: string, line: string): Promise<void> {
    return this.#until(() => this.lines.findLast((one) => one.startsWith(prefix)) === line);
  }

  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    await this.#ended;
  }

  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => end(new Error(`${this.process.spawnfile} said ${JSON.stringify(this.lines)}, ${this.#errors}`)), patienceMs);
      const end = (error?: Error) => {
        clearTimeout(late);
        this.#told.delete(look);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = () => {
        if (isSo()) end();
      };
      this.#told.add(look);
      look();
    });
  }
}
