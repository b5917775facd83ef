import { spawnSync } from 'node:child_process';
import type { ProcessFacts, ProcessIdentity } from '#cluster/ports/processes.ts';
import type { ProcessTable } from '../linux/process-table.ts';

/** Some systems work out a start time anew for each question, and round. */
const maxStartDrift = 2;

/** The processes of any system with a POSIX `ps` that knows `lstart`: macOS, the BSDs, Linux. Start times are in seconds. */
export const portableProcesses: ProcessTable = {
  identify: (pid): ProcessIdentity | undefined => readTable(['-p', String(pid)]).find((process) => process.pid === pid),
  isSame: (one, other) => one.pid === other.pid && Math.abs(one.startTicks - other.startTicks) <= maxStartDrift,
  list: () => readTable(['-ax']),
  hasCapability: () => false,
};

function readTable(which: readonly string[]): readonly ProcessFacts[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,ppid=,stat=,lstart=,command=', ...which], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap(parseRow);
}

/** `  501     1 Ss   Wed Dec  2 06:37:20 2026     node supervisor.js`; the remains of a process have the state Z. */
export function parseRow(row: string): readonly ProcessFacts[] {
  const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d{4})\s*(.*)$/.exec(row);
  const [, pid, parentPid, state = '', started = '', command = ''] = found ?? [];
  if (found === null || state.startsWith('Z')) return [];
  const startTicks = Date.parse(`${started} UTC`) / 1000;
  return Number.isNaN(startTicks) ? [] : [{ pid: Number(pid), parentPid: Number(parentPid), startTicks, command: command.split(' ') }];
}
