import type { ImageContent } from './archive.ts';
import type { TarEntry } from './tar.ts';

/** Raised whenever the image's content changes: the name is part of containerd's configuration. */
export const pauseImageName = 'localhost/kubernode/pause:1';
export const busyboxImageName = 'docker.io/library/busybox:latest';

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** @param catatonit a statically linked init program; with `-P` it only waits, and reaps what a shared PID namespace leaves to it */
export function pauseImage(catatonit: Uint8Array): ImageContent {
  return {
    name: pauseImageName,
    config: { entrypoint: ['/catatonit', '-P'], command: [], environment: [path], workingDir: '/', user: '' },
    files: [{ kind: 'file', path: 'catatonit', mode: 0o755, content: catatonit }],
  };
}

/**
 * @param busybox a statically linked busybox
 * @param applets what `busybox --list-full` prints, one path a line
 */
export function busyboxImage(busybox: Uint8Array, applets: string): ImageContent {
  const directories = [
    'bin',
    'dev',
    'etc',
    'home',
    'root',
    'sbin',
    'tmp',
    'usr',
    'usr/bin',
    'usr/sbin',
    'var',
    'var/spool',
    'var/spool/mail',
    'var/www',
  ];
  const links = applets
    .split('\n')
    .map((line) => line.trim().replace(/^\//, ''))
    .filter((applet) => applet !== '' && applet !== 'bin/busybox' && directories.includes(parentOf(applet)));
  return {
    name: busyboxImageName,
    config: { entrypoint: [], command: ['sh'], environment: [path], workingDir: '/', user: '' },
    files: [
      ...directories.map(
        (directory): TarEntry => ({ kind: 'directory', path: directory, mode: directory === 'tmp' ? 0o1777 : directory === 'root' ? 0o700 : 0o755 }),
      ),
      text(
        'etc/passwd',
        accounts.map(({ name, id, home }) => `${name}:x:${id}:${id}:${name}:${home}:${id === 0 ? '/bin/sh' : '/bin/false'}\n`).join(''),
      ),
      text('etc/group', accounts.map(({ name, id }) => `${name}:x:${id}:\n`).join('')),
      text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
      { kind: 'file', path: 'bin/busybox', mode: 0o755, content: busybox },
      ...links.map((applet): TarEntry => ({ kind: 'link', path: applet, target: 'bin/busybox' })),
    ],
  };
}

const accounts = [
  { name: 'root', id: 0, home: '/root' },
  { name: 'daemon', id: 1, home: '/usr/sbin' },
  { name: 'bin', id: 2, home: '/bin' },
  { name: 'mail', id: 8, home: '/var/spool/mail' },
  { name: 'www-data', id: 33, home: '/var/www' },
  { name: 'nobody', id: 65_534, home: '/home' },
];

function text(name: string, content: string): TarEntry {
  return { kind: 'file', path: name, mode: 0o644, content: Buffer.from(content) };
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
