import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessFacts, ProcessIdentity } from '#cluster/ports/processes.ts';

/** What an operating system tells of its processes. */
export interface ProcessTable {
  /** Nothing when there is no such process, or only its remains. */
  identify(pid: number): ProcessIdentity | undefined;
  isSame(one: ProcessIdentity, other: ProcessIdentity): boolean;
  list(): readonly ProcessFacts[];
  hasCapability(number: number): boolean;
}

/** `/proc`: a process is known by its pid and the tick in which it started. */
export const linuxProcesses: ProcessTable = {
  identify: readStat,
  isSame: (one, other) => one.pid === other.pid && one.startTicks === other.startTicks,
  list: () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readFacts(Number(name))),
  hasCapability: (number) => {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${effective}`) >> BigInt(number)) & 1n) === 1n;
  },
};

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
