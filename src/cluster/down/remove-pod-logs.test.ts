import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterPaths, logPaths } from '../cluster-paths.ts';
import type { FoundCluster } from '../find-clusters.ts';
import type { HostObjects } from '../inventory/host-objects.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { removePodLogs } from './remove-pod-logs.ts';

const defaults = clusterPaths('/run/kubernode/one', '/data/one');
const objects = { podDirectories: ['uid-1', 'uid-2'] } as unknown as HostObjects;

/** A host that has folders of logs and links to logs, and nothing else. */
function aHost(folders: readonly string[], links: Readonly<Record<string, string>>) {
  const left = new Set([...folders, ...Object.keys(links)]);
  const files = {
    list: async (directory: string) =>
      [...left].flatMap((path) => (path.startsWith(`${directory}/`) ? [{ name: path.slice(directory.length + 1), isDirectory: true }] : [])),
    readLink: async (path: string) => {
      if (links[path] === undefined) throw new Error('EINVAL');
      return links[path];
    },
    remove: async (path: string) => void left.delete(path),
    removeTree: async (path: string) => void left.delete(path),
  };
  return { left, host: { files } as unknown as ClusterHost };
}

const cluster = (paths: Partial<FoundCluster['paths']>) => ({ paths: { ...defaults, ...paths } }) as unknown as FoundCluster;

test('a node that logs where all kubelets log takes its own pods\u2019 logs and links along, and no others', async () => {
  const { left, host } = aHost(['/var/log/pods/ns_a_uid-1', '/var/log/pods/ns_b_uid-9', '/var/log/containers/of-somebody.log'], {
    '/var/log/containers/a_ns_main-1.log': '/var/log/pods/ns_a_uid-1/main/0.log',
    '/var/log/containers/b_ns_main-9.log': '/var/log/pods/ns_b_uid-9/main/0.log',
  });
  await removePodLogs(cluster(logPaths(defaults, '/var/log/pods')), objects, host);
  assert.deepEqual([...left], ['/var/log/pods/ns_b_uid-9', '/var/log/containers/of-somebody.log', '/var/log/containers/b_ns_main-9.log']);
});

test('logs in the data folder stay as long as that does', async () => {
  const { left, host } = aHost(['/data/one/pod-logs/ns_a_uid-1'], {});
  await removePodLogs(cluster({}), objects, host);
  assert.equal(left.size, 1);
});

test('links are beside upstream\u2019s place for logs, else in the data folder', () => {
  assert.equal(logPaths(defaults, '/var/log/pods').containerLogs, '/var/log/containers');
  assert.deepEqual(logPaths(defaults, '/logs'), { podLogs: '/logs', containerLogs: '/data/one/container-logs' });
  assert.equal(logPaths(defaults, undefined).containerLogs, '/data/one/container-logs');
});
