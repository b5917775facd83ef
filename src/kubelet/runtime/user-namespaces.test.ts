import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { NamespaceMode } from '#wire/generated/cri.ts';
import { type HandlerFeatures, UserNamespaces, usersOfNode } from './user-namespaces.ts';

const { signal } = new AbortController();
const roots = { root: '/kubelet', podLogs: '/logs' };
const able: HandlerFeatures = { recursiveReadOnlyMounts: true, userNamespaces: true };

function aWorld() {
  const files = createMemoryFiles(new MemoryTree());
  const kubelet = (featuresOf: (handler: string) => HandlerFeatures | undefined = () => able) =>
    new UserNamespaces({ files, roots, idsPerPod: 65_536, featuresOf });
  const pod = async (uid: string, hostUsers = false) => {
    await files.ensureDirectory(`/kubelet/pods/${uid}`, 0o750, signal);
    return aPod({ metadata: { uid }, spec: { hostUsers } });
  };
  return { files, kubelet, pod };
}

test('each pod has a range of its own, the same every time, and a released one is given again', async () => {
  const { kubelet, pod } = aWorld();
  const namespaces = kubelet();
  const firstOf = async (uid: string) => (await namespaces.of(await pod(uid), async () => '', signal)).uids[0]?.hostId;
  assert.deepEqual([await firstOf('a'), await firstOf('b'), await firstOf('a')], [65_536, 131_072, 65_536]);
  namespaces.release('a');
  assert.equal(await firstOf('c'), 65_536);
});

test('the next kubelet finds the ranges that are taken', async () => {
  const { files, kubelet, pod } = aWorld();
  const mapping = { hostId: 65_536, containerId: 0, length: 65_536 };
  assert.deepEqual(await kubelet().of(await pod('a'), async () => '', signal), { mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] });
  const record = new TextDecoder().decode(await files.read('/kubelet/pods/a/userns', signal));
  assert.deepEqual(JSON.parse(record), { uidMappings: [mapping], gidMappings: [mapping] });
  const next = kubelet();
  assert.equal((await next.of(await pod('b'), async () => '', signal)).uids[0]?.hostId, 131_072);
  assert.equal((await next.of(await pod('a'), async () => '', signal)).uids[0]?.hostId, 65_536);
});

test('a pod that asks for nothing has the users of the node', async () => {
  const { kubelet, pod } = aWorld();
  assert.deepEqual(await kubelet().of(await pod('a', true), async () => '', signal), usersOfNode);
});

test('a runtime or handler that cannot is refused in upstream’s words', async () => {
  const { kubelet, pod } = aWorld();
  const refused = async (features: HandlerFeatures | undefined, handler: string, message: string) =>
    assert.rejects(
      kubelet(() => features).of(await pod('a'), async () => handler, signal),
      { message },
    );
  await refused(undefined, '', "can't set `spec.hostUsers: false`, runtime does not support user namespaces");
  const unable = { ...able, userNamespaces: false };
  await refused(unable, 'kata', 'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces');
  await refused(
    undefined,
    'kata',
    'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces: the handler "kata" is not known',
  );
});
