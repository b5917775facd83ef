import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pluginProgramsContract } from '#os/contracts/plugin-programs.ts';
import { createPluginPrograms } from '#os/linux/plugin-programs.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kubernode-plugins-'));
  const scripts = {
    echo: 'printf "%s|%s|" "$1" "$GREETING"; cat',
    failing: 'echo no credentials here >&2; exit 3',
    endless: 'sleep 300',
    parent: `sleep 300 & echo $! > ${dir}/child; wait`,
    talkative: 'cat /dev/zero',
  };
  for (const [name, script] of Object.entries(scripts)) await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
});
after(() => rm(dir, { recursive: true }));

const programs = createPluginPrograms({ PATH: process.env['PATH'] });

pluginProgramsContract('linux', async () => ({
  programs,
  echo: join(dir, 'echo'),
  failing: join(dir, 'failing'),
  endless: join(dir, 'endless'),
  missing: join(dir, 'missing'),
}));

test('what a program has started dies with it', { timeout: 10_000 }, async () => {
  const abort = new AbortController();
  const running = programs.run({ program: join(dir, 'parent'), args: [], env: {}, stdin: '' }, abort.signal);
  let pid = 0;
  while (pid === 0) pid = Number(await readFile(join(dir, 'child'), 'utf8').catch(() => '0'));
  abort.abort();
  await assert.rejects(running);
  const stateOf = async () => /^State:\s+(\w)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State: gone'))?.[1];
  // The signal has been sent, and the kernel may take a moment; dead it is even if somebody has still to take note of that.
  while (!['Z', 'X', 'g'].includes((await stateOf()) ?? '')) await new Promise((resolve) => setImmediate(resolve));
});

test('a program that writes without end is ended', async () => {
  await assert.rejects(programs.run({ program: join(dir, 'talkative'), args: [], env: {}, stdin: '' }, new AbortController().signal), {
    message: /^more than \d+ bytes on stdout$/,
  });
});
