import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { type PluginRun, ProgramFailed } from '../../ports/plugin-programs.ts';
import { parseNodeLogQuery } from './node-log-query.ts';
import { serviceLogs } from './service-logs.ts';

const { signal } = new AbortController();

/** @param journal what the journal says of its units; undefined: there is none */
async function ask(text: string, journal: string | undefined): Promise<string> {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/var/log/proxy', 0o755, signal);
  await files.write('/var/log/syslog', 'of the system\n', 0o644, signal);
  await files.write('/var/log/proxy/proxy.log', 'of the proxy\n', 0o644, signal);
  const run = async ({ args }: PluginRun): Promise<string> => {
    if (journal === undefined) throw new ProgramFailed({ message: 'spawn journalctl ENOENT' });
    if (args.includes('--field')) return 'kubelet.service\ncontainerd.service\n';
    if (journal === 'broken') throw new ProgramFailed({ message: 'exit status 1: no' });
    return `${args.filter((one) => one.startsWith('--unit')).join(' ')}\n`;
  };
  const parsed = parseNodeLogQuery(new URLSearchParams(text));
  if (parsed.kind !== 'query') throw new Error(`${text} is no query`);
  const logs = { directory: '/var/log', files, programs: { run }, clock: new FakeClock() };
  let told = '';
  for await (const chunk of serviceLogs(logs, parsed.query, signal)) told += Buffer.from(chunk).toString();
  return told;
}

test('the journal tells of what it knows, files of the rest', async () => {
  assert.equal(await ask('query=kubelet&query=syslog&query=containerd', ''), '--unit=kubelet --unit=containerd\nof the system\n');
  assert.equal(await ask('query=proxy', undefined), 'of the proxy\n');
});

test('what cannot be told is said in the text', async () => {
  assert.equal(await ask('query=other', ''), '\nno logs found for "other"\n');
  assert.equal(await ask('query=kubelet', 'broken'), '\nfailed to get logs of kubelet: exit status 1: no\n');
  const hint = '\noptions present and query resolved to log files for [proxy]\ntry without specifying options\n';
  assert.equal(await ask('query=proxy&tailLines=1', undefined), hint);
});
