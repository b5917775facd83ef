import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { BadResolvConf } from './dns-config.ts';
import { createHostDns } from './host-dns.ts';

const { signal } = new AbortController();

async function dnsOf(text: string | undefined, options: { resolvConf?: string; nodeAddress?: string; clusterDomain?: string } = {}) {
  const files = createMemoryFiles(new MemoryTree());
  await files.ensureDirectory('/etc', 0o755, signal);
  const write = (content: string) => files.write('/etc/resolv.conf', content, 0o644, signal);
  if (text !== undefined) await write(text);
  const settings = {
    files,
    resolvConf: '/etc/resolv.conf',
    nodeAddress: '10.0.0.1',
    clusterDomain: 'cluster.local',
    clusterDns: [],
    expectsClusterDns: true,
    ...options,
  };
  return { dns: createHostDns(settings), write };
}

test('a change of the node’s file is seen by the next pod', async () => {
  const { dns, write } = await dnsOf('nameserver 1.1.1.1\n');
  assert.deepEqual((await dns.read(signal)).host.servers, ['1.1.1.1']);
  await write('nameserver 9.9.9.9\n');
  assert.deepEqual((await dns.read(signal)).host.servers, ['9.9.9.9']);
});

test('a kubelet without a file asks the node itself, in its own family', async () => {
  const serversOf = async (nodeAddress: string) => (await (await dnsOf(undefined, { resolvConf: '', nodeAddress })).dns.read(signal)).host.servers;
  assert.deepEqual([await serversOf('10.0.0.1'), await serversOf('fd00::1')], [['127.0.0.1'], ['::1']]);
});

test('a file that is missing or malformed refuses pods, and is told', async () => {
  for (const [text, message] of [
    [undefined, 'open /etc/resolv.conf: no such file or directory'],
    ['nameserver\n', 'Encountered error while parsing resolv conf file. Error: nameserver list is empty '],
  ] as const) {
    const { dns } = await dnsOf(text);
    await assert.rejects(dns.read(signal), (error) => error instanceof BadResolvConf && error.message === message);
    assert.equal(await dns.problem(signal), message);
  }
});

test('a search line that leaves no room for the cluster’s own, or is too long, is told', async () => {
  const search = (count: number, length: number) =>
    `search ${Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'd')).join(' ')}\n`;
  const problemOf = async (text: string, clusterDomain = 'cluster.local') => (await dnsOf(text, { clusterDomain })).dns.problem(signal);
  assert.equal(await problemOf(search(29, 4)), undefined);
  assert.equal(await problemOf(search(30, 4)), "Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than 29 domains!");
  assert.equal(await problemOf(search(32, 4), ''), undefined);
  assert.match((await problemOf(search(1, 254))) ?? '', /contains a search path which length is more than allowed 253 chars!$/);
  assert.match((await problemOf(search(10, 250))) ?? '', /contains search line which length is more than allowed 2048 chars!$/);
});
