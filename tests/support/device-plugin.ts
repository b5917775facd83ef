import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface TestDevice {
  readonly id: string;
  readonly health?: string;
}

/** What the process of the plugin is told. */
export interface PluginOrder {
  /** `<kubelet root>/device-plugins` */
  readonly directory: string;
  readonly resource: string;
  readonly devices: readonly TestDevice[];
  /** A folder of the host that every container gets at `/plugin`. */
  readonly folder: string;
  readonly preStart?: boolean;
  /** Its socket is put into that folder, and it waits to be found there, in place of coming forward. */
  readonly registry?: string;
}

/** A device plugin in a process of its own. */
export interface TestPlugin {
  readonly process: ChildProcess;
  /** Resolves with the words after the first that a line starts with: `registered`, `allocate dev-0 dev-1`, `pre-start dev-0`. */
  says(word: string): Promise<string>;
  /** Other devices from now on. */
  tell(devices: readonly TestDevice[]): void;
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL('device-plugin-process.ts', import.meta.url));

export function startDevicePlugin(order: PluginOrder): TestPlugin {
  const child = spawn(process.execPath, ['--import', 'tsx', program, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const wake of waiting.splice(0)) wake();
  });
  ended.then(() => {
    for (const wake of waiting.splice(0)) wake();
  });
  return {
    process: child,
    async says(word) {
      for (;;) {
        const index = lines.findIndex((line) => line.split(' ')[0] === word);
        if (index >= 0) return (lines.splice(index, 1)[0] ?? '').slice(word.length + 1);
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the plugin has ended and did not say ${word}: ${lines.join('; ')}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    tell: (devices) => void child.stdin.write(`${JSON.stringify(devices)}\n`),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
