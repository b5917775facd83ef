import type { Sight } from './sights.ts';

// Room and paths of the node, parts of volumes, and volumes of a group.

export const hostPath = (path: string, type?: string) => ({ hostPath: { path, ...(type === undefined ? {} : { type }) } });
const mountOf = '(grep " $V " /proc/mounts | cut -d" " -f3,4)';
const kindOf = 'stat -L -c "%F %a" $V';
export const emptyDir = (more: object = {}) => ({ emptyDir: more });

/** Each mode that a file may have, made by the container itself. */
const modes = ['644', '666', '777'].map((mode) => `touch $V/${mode}; chmod ${mode} $V/${mode}; stat -c "%a %u" $V/${mode}`).join('; ');
const seenModes = (uid: number) => `644 ${uid}\n666 ${uid}\n777 ${uid}`;

export const nodeSights = (host: string): readonly Sight[] => [
  {
    volume: emptyDir(),
    rows: [
      { feature: 'emptyDir: it is empty, and everybody may write', look: 'ls $V; stat -c "%a %u %g" $V', sees: '777 0 0' },
      { feature: 'emptyDir: root makes files of each mode', look: modes, sees: seenModes(0) },
    ],
  },
  {
    volume: emptyDir({ medium: 'Memory' }),
    rows: [
      {
        feature: 'emptyDir in memory: it is a tmpfs, and everybody may write',
        look: `${mountOf} | cut -d' ' -f1; stat -c %a $V`,
        sees: /^tmpfs\n1?777$/,
      },
      { feature: 'emptyDir in memory: root makes files of each mode', look: modes, sees: seenModes(0) },
    ],
  },
  {
    volume: emptyDir({ medium: 'Memory', sizeLimit: '1Mi' }),
    rows: [
      {
        feature: 'subtle 63: emptyDir in memory: who writes beyond sizeLimit has no space left',
        look: `${mountOf} | grep -o size=1024k; dd if=/dev/zero of=$V/big bs=64k count=17 2>&1 | grep -o 'No space left on device'; stat -c %s $V/big`,
        sees: 'size=1024k\nNo space left on device\n1048576',
      },
    ],
  },
  { volume: emptyDir(), mount: { readOnly: true }, rows: [{ feature: 'readOnly', look: 'touch $V/x', sees: /Read-only file system/ }] },
  { volume: hostPath(host), rows: [{ feature: 'hostPath: without a type', look: 'cat $V/file', sees: 'of the host' }] },
  { volume: hostPath(`${host}/folder`, 'Directory'), rows: [{ feature: 'hostPath: Directory', look: 'cat $V/inside/file', sees: 'deep' }] },
  { volume: hostPath(`${host}/file`, 'File'), rows: [{ feature: 'hostPath: File', look: kindOf, sees: 'regular file 640' }] },
  { volume: hostPath(`${host}/socket`, 'Socket'), rows: [{ feature: 'hostPath: Socket', look: 'stat -c %F $V', sees: 'socket' }] },
  { volume: hostPath('/dev/null', 'CharDevice'), rows: [{ feature: 'hostPath: CharDevice', look: 'stat -c %F $V', sees: 'character special file' }] },
  { volume: hostPath('/dev/loop0', 'BlockDevice'), rows: [{ feature: 'hostPath: BlockDevice', look: 'stat -c %F $V', sees: 'block special file' }] },
  {
    volume: hostPath(`${host}/made/folder`, 'DirectoryOrCreate'),
    rows: [{ feature: 'hostPath: DirectoryOrCreate makes it', look: kindOf, sees: 'directory 755' }],
  },
  {
    volume: hostPath(`${host}/made-file`, 'FileOrCreate'),
    rows: [{ feature: 'hostPath: FileOrCreate makes it', look: kindOf, sees: 'regular empty file 644' }],
  },
];

/** Parts of volumes, and volumes in volumes. */
export const partSights = (host: string): readonly Sight[] => [
  {
    volume: { configMap: { name: 'settings' } },
    mount: { subPath: 'colour' },
    rows: [{ feature: 'subPath: a single file', look: 'cat $V; stat -c %F $V', sees: 'blue\nregular file' }],
  },
  {
    volume: { projected: { sources: [{ secret: { name: 'keys' } }] } },
    mount: { subPath: 'password' },
    rows: [{ feature: 'subPath: a file of a projected volume', look: 'cat $V', sees: 'open sesame' }],
  },
  {
    volume: { secret: { secretName: 'keys', items: [{ key: 'password', path: 'deep/er/password' }] } },
    mount: { subPath: 'deep/er' },
    rows: [{ feature: 'subPath: a folder', look: 'ls $V', sees: 'password' }],
  },
  {
    volume: hostPath(host),
    mount: { subPath: 'folder/inside' },
    rows: [{ feature: 'subPath: of a hostPath', look: 'cat $V/file', sees: 'deep' }],
  },
  {
    volume: emptyDir(),
    mount: { subPath: 'not/there/yet' },
    rows: [
      {
        feature: 'subPath: what is not there is made like the volume itself',
        look: 'stat -c "%F %a" $V; echo x > $V/x && cat $V/x',
        sees: 'directory 777\nx',
      },
    ],
  },
  {
    volume: emptyDir(),
    mount: { subPathExpr: '$(POD_NAME)/$(GREETING)' },
    rows: [{ feature: 'subPathExpr: variables are put in', look: `grep ' /v5 ' /proc/self/mountinfo | grep -o 'parts/hello'`, sees: 'parts/hello' }],
  },
  {
    volume: emptyDir(),
    mount: { subPath: 'sealed', readOnly: true },
    rows: [{ feature: 'subPath: read-only', look: 'touch $V/x', sees: /Read-only file system/ }],
  },
  { volume: { configMap: { name: 'settings' } }, mount: { mountPath: '/outer' }, rows: [] },
  {
    volume: emptyDir(),
    mount: { mountPath: '/outer/in/ner' },
    rows: [
      { feature: 'a volume below a read-only one', look: 'cat /outer/colour; echo x > /outer/in/ner/x && cat /outer/in/ner/x', sees: 'blue\nx' },
    ],
  },
];

/** Of the container that looks at parts. */
export const env = [
  { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  { name: 'GREETING', value: 'hello' },
  { name: 'ROOT', value: '/tmp' },
  { name: 'UP', value: '..' },
];

export const groupedSights = (host: string): readonly Sight[] => [
  {
    volume: emptyDir(),
    rows: [
      { feature: 'fsGroup: an emptyDir is the group\u2019s', look: 'stat -c "%a %g" $V', sees: '2777 4000' },
      {
        feature: 'emptyDir: another user makes files of each mode, for the group',
        look: `${modes}; stat -c %g $V/644`,
        sees: `${seenModes(1000)}\n4000`,
      },
    ],
  },
  {
    volume: emptyDir({ medium: 'Memory' }),
    rows: [
      { feature: 'fsGroup: an emptyDir in memory is the group\u2019s', look: 'stat -c %g $V', sees: '4000' },
      { feature: 'emptyDir in memory: another user makes files of each mode', look: modes, sees: seenModes(1000) },
    ],
  },
  {
    volume: { secret: { secretName: 'keys', defaultMode: 0o400 } },
    rows: [
      {
        feature: 'fsGroup: a secret can be read by the group, and nobody can write',
        look: 'stat -L -c "%a %u %g" $V/colour; cat $V/colour',
        sees: '440 0 4000\nred',
      },
    ],
  },
  {
    volume: { configMap: { name: 'settings' } },
    rows: [{ feature: 'fsGroup: a configMap is the group\u2019s', look: 'stat -L -c "%a %g" $V/colour; cat $V/colour', sees: '644 4000\nblue' }],
  },
  {
    volume: { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    rows: [
      {
        feature: 'fsGroup: a token is for its user and group alone',
        look: 'stat -L -c "%a %u %g" $V/token; wc -l < $V/token',
        sees: '640 1000 4000\n0',
      },
    ],
  },
  { volume: hostPath(host), rows: [{ feature: 'fsGroup: a hostPath is left as it is', look: 'stat -c %g $V $V/file', sees: '0\n0' }] },
];
