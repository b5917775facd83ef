import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { createMemoryMounter } from '#os/memory/mounter.ts';
import { MemoryObjects } from '../testing/volume-host.ts';
import { hostPathPlugin } from './host-path.ts';

const { signal } = new AbortController();

async function open() {
  const tree = new MemoryTree();
  const files = createMemoryFiles(tree);
  await files.ensureDirectory('/dir', 0o755, signal);
  await files.write('/file', '', 0o644, signal);
  await files.link('dir', '/to-dir', signal);
  await files.link('to-dir', '/to-to-dir', signal);
  await files.link('loop', '/loop', signal);
  const plugin = hostPathPlugin({
    files,
    mounter: createMemoryMounter(tree),
    objects: new MemoryObjects(),
    tokens: { token: () => Promise.reject(new Error('none')), forget: () => undefined },
    roots: { root: '/', memory: '/' },
    clock: new FakeClock(),
    logger: silentLogger,
    random: () => 0,
    allocatable: () => ({}),
  });
  const setUp = async (path: string, type?: string) => {
    try {
      return (await plugin.setUp({ name: 'v', hostPath: { path, type } }, aPod(), signal)).hostPath;
    } catch (error) {
      return error instanceof Error ? error.message : error;
    }
  };
  return { files, setUp };
}

test('the type says what must be there, through links', async () => {
  const { setUp } = await open();
  const table: readonly (readonly [string, string | undefined, string])[] = [
    ['/none', undefined, '/none'],
    ['/none', '', '/none'],
    ['/dir', 'Directory', '/dir'],
    ['/to-to-dir', 'Directory', '/to-to-dir'],
    ['/file', 'File', '/file'],
    ['/file', 'Directory', 'hostPath type check failed: /file is not a directory'],
    ['/file', 'DirectoryOrCreate', 'hostPath type check failed: /file is not a directory'],
    ['/none', 'Directory', 'hostPath type check failed: /none is not a directory'],
    ['/dir', 'File', 'hostPath type check failed: /dir is not a file'],
    ['/dir', 'Socket', 'hostPath type check failed: /dir is not a socket file'],
    ['/dir', 'CharDevice', 'hostPath type check failed: /dir is not a character device'],
    ['/loop', 'BlockDevice', 'hostPath type check failed: /loop is not a block device'],
    ['/dir', 'Other', 'Other is an invalid volume type'],
    ['/dir/../file', 'File', "invalid HostPath `/dir/../file`: must not contain '..'"],
  ];
  for (const [path, type, expected] of table) assert.equal(await setUp(path, type), expected, `${path} ${type}`);
});

test('what may be made is made with upstream’s modes', async () => {
  const { files, setUp } = await open();
  await setUp('/new/deep', 'DirectoryOrCreate');
  await setUp('/dir/new', 'FileOrCreate');
  const modes = await Promise.all(['/new/deep', '/dir/new'].map(async (path) => (await files.stat(path, signal))?.mode));
  assert.deepEqual(modes, [0o755, 0o644]);
  assert.match(String(await setUp('/no-parent/new', 'FileOrCreate')), /ENOENT/);
});
