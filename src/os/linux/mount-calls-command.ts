import { execFile } from 'node:child_process';
import { hostError } from './errno.ts';
import { FLAG_OF_OPTION, type MountCalls, MS_BIND, MS_REC, MS_REMOUNT } from './mount-calls.ts';
import { kernelPath, readMountInfo } from './mountinfo.ts';

/** The way without koffi: mount(8) and umount(8), 3 ms each. They tell no errno, only a text for people. */
export function commandMountCalls(): MountCalls {
  return {
    async mount({ source, target, fsType, flags, data }) {
      const type = fsType === '' ? [] : ['-t', fsType];
      // --no-canonicalize: a source under /proc/<pid>/fd must reach the kernel as it is
      await run('mount', ['--no-canonicalize', '-n', ...type, '-o', optionsOf(flags, data), ownFd(source), target]);
    },
    async unmount(target) {
      const path = kernelPath(target);
      if (!readMountInfo().some((mount) => mount.target === path)) return false;
      await run('umount', ['--no-canonicalize', '-n', path]);
      return true;
    },
  };
}

function optionsOf(flags: number, data: string): string {
  const names = Object.entries(FLAG_OF_OPTION).flatMap(([name, flag]) => ((flags & flag) === 0 ? [] : [name]));
  if ((flags & MS_BIND) !== 0) names.push((flags & MS_REC) === 0 ? 'bind' : 'rbind');
  if ((flags & MS_REMOUNT) !== 0) names.push('remount');
  return [...names, ...(data === '' ? [] : [data])].join(',') || 'defaults';
}

/** `/proc/self` would be the command's own. */
function ownFd(source: string): string {
  return source.startsWith('/proc/self/fd/') ? source.replace('self', String(process.pid)) : source;
}

const CODES: ReadonlyMap<RegExp, string> = new Map([
  [/target is busy/, 'EBUSY'],
  [/must be superuser|permission denied|not permitted/i, 'EPERM'],
  [/does not exist|No such file/, 'ENOENT'],
]);

function run(command: string, args: readonly string[]): Promise<void> {
  const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  return new Promise((resolve, reject) => {
    execFile(command, args, { env: environment }, (error, _stdout, stderr) => {
      if (error === null) return resolve();
      const code = [...CODES].find(([pattern]) => pattern.test(stderr))?.[1] ?? 'EIO';
      reject(hostError(code, `${command} ${args.join(' ')}`, new Error(stderr.trim() || error.message)));
    });
  });
}
