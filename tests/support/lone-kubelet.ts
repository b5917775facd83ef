import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A kubelet of its own process: `kubernode kubelet`. */
export interface LoneKubelet {
  readonly process: ChildProcess;
  /** Resolves when it says that it is ready. @throws with its last words when it ends before */
  ready(): Promise<void>;
  /** Resolves with a line of its log that matches. @throws when it ends before, or has not said it within 30 s */
  says(pattern: RegExp): Promise<string>;
  /** Its exit code once it has ended by itself, and all that it said. */
  ended(): Promise<readonly [code: number | null, said: string]>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

const patienceMs = 30_000;
const program = fileURLToPath(new URL('../../dist/kubernode.js', import.meta.url));

export function startLoneKubelet(flags: readonly string[]): LoneKubelet {
  const child = spawn(process.execPath, [program, 'kubelet', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  const listeners = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line);
      for (const listener of [...listeners]) listener(line);
    });
  }
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const says = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const known = said.find((line) => pattern.test(line));
      if (known !== undefined) return resolve(known);
      const listener = (line: string) => {
        if (!pattern.test(line)) return;
        listeners.delete(listener);
        resolve(line);
      };
      listeners.add(listener);
      const late = setTimeout(() => reject(new Error(`the kubelet does not say ${pattern}:\n${said.slice(-20).join('\n')}`)), patienceMs);
      late.unref();
      void ended.then(([code]) => reject(new Error(`the kubelet ended with ${code}:\n${said.slice(-20).join('\n')}`)));
    });
  return {
    process: child,
    says,
    ready: async () => void (await says(/^\{"ready":true\}$/)),
    ended: async () => [(await ended)[0], said.join('\n')],
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return (await ended)[0];
    },
  };
}
