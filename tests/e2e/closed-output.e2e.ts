import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from '#testing/run-program.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster({ nodes: 0 });
const program = fileURLToPath(new URL('../../dist/kubernode.js', import.meta.url));

test('down does its whole work when the reader of its words goes away', async () => {
  const words = [process.execPath, program, 'down', '--name', cluster.name, '--data-dir', cluster.paths.dataDir];
  // `true` reads nothing and is gone before the first word; `down` tells its exit code past it.
  const script = '{ "$@" 2>&1; echo "$?" >&3; } 3>&2 | true';
  const result = await runProgram(['sh', '-c', script, 'sh', ...words], 60_000);
  assert.equal(result.stderr.trim(), '0');
  assert.equal(existsSync(cluster.paths.runDir), false);
});
