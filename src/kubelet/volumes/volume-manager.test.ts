import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aSecret, type DeepPartial } from '#api/testing/objects.ts';
import type { PodSpec, Volume } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { settled } from '#client/testing/settled.ts';
import type { VolumesOutcome } from '../ports/volumes.ts';
import { aVolumeHost, MEMORY } from './testing/volume-host.ts';
import { access, PODS, podWith, remains, rootCa, secret, settings } from './testing/volume-pods.ts';

const { signal } = new AbortController();
function paths(outcome: VolumesOutcome): Readonly<Record<string, string>> {
  assert.equal(outcome.kind, 'mounted', outcome.kind === 'wait' ? outcome.detail : '');
  return outcome.kind === 'mounted' ? Object.fromEntries([...outcome.volumes].map(([name, { hostPath }]) => [name, hostPath])) : {};
}

test('every type of volume is where upstream has it, secrets in memory, and release leaves nothing', async () => {
  const host = await aVolumeHost();
  host.objects.put(aConfigMap());
  host.objects.put(aSecret());
  host.objects.put(rootCa);
  await host.files.ensureDirectory('/srv', 0o755, signal);
  const pod = podWith([
    settings,
    secret,
    access,
    { name: 'scratch', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'info', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'host', hostPath: { path: '/srv' } },
  ]);
  assert.deepEqual(paths(await host.volumes.ensure(pod, signal)), {
    conf: `${PODS}/volumes/kubernetes.io~configmap/conf`,
    sec: `${MEMORY}/u1/kubernetes.io~secret/sec`,
    access: `${MEMORY}/u1/kubernetes.io~projected/access`,
    scratch: `${PODS}/volumes/kubernetes.io~empty-dir/scratch`,
    ram: `${PODS}/volumes/kubernetes.io~empty-dir/ram`,
    info: `${MEMORY}/u1/kubernetes.io~downward-api/info`,
    host: '/srv',
  });
  const content = await Promise.all(
    [
      `${PODS}/volumes/kubernetes.io~configmap/conf/key`,
      `${MEMORY}/u1/kubernetes.io~secret/sec/key`,
      ...['token', 'ca.crt', 'namespace'].map((file) => `${MEMORY}/u1/kubernetes.io~projected/access/${file}`),
      `${MEMORY}/u1/kubernetes.io~downward-api/info/name`,
    ].map(host.read),
  );
  assert.deepEqual(content, ['value', 'value', 'token-1', 'PEM', 'default', 'web']);
  assert.deepEqual(await host.mounter.listBelow('/', signal), [
    { target: `${PODS}/volumes/kubernetes.io~empty-dir/ram`, source: 'tmpfs', fsType: 'tmpfs' },
  ]);
  assert.deepEqual([...(await host.volumes.find('u1', signal))].sort(), ['access', 'conf', 'info', 'ram', 'scratch', 'sec']);

  await host.volumes.release('u1', signal);
  await host.volumes.release('u1', signal);
  assert.deepEqual(await host.volumes.find('u1', signal), []);
  assert.deepEqual([await remains(host), host.objects.watched, host.clock.waiting], [[], [], 0]);
  assert.equal((await host.files.stat('/srv', signal))?.kind, 'directory');
});

test('a volume is mounted as the container may use it', async () => {
  const host = await aVolumeHost();
  host.objects.put(aConfigMap());
  const outcome = await host.volumes.ensure(
    podWith([settings, { name: 'scratch', emptyDir: {} }, { name: 'host', hostPath: { path: '/' } }]),
    signal,
  );
  const uses = outcome.kind === 'mounted' ? [...outcome.volumes.values()].map(({ name, readOnly, relabel }) => `${name} ${readOnly} ${relabel}`) : [];
  assert.deepEqual([...uses].sort(), ['conf true true', 'host false false', 'scratch false true']);
});

test('a missing ConfigMap holds the pod, and its coming wakes it', async () => {
  const host = await aVolumeHost();
  const pod = podWith([settings, { name: 'scratch', emptyDir: {} }]);
  assert.deepEqual(await host.volumes.ensure(pod, signal), {
    kind: 'wait',
    reason: 'FailedMount',
    detail: 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found',
    wakeOn: [{ kind: 'object', ref: 'configmap/default/settings' }],
    atLatestMs: 60_000,
  });
  assert.deepEqual(host.woken, []);
  host.objects.put(aConfigMap());
  assert.deepEqual(host.woken, [{ kind: 'object', ref: 'configmap/default/settings' }]);
  assert.deepEqual(Object.keys(paths(await host.volumes.ensure(pod, signal))).sort(), ['conf', 'scratch']);
  assert.equal(host.clock.waiting, 0);
});

test('what nothing but time may mend is tried later and later', async () => {
  const host = await aVolumeHost();
  const pod = podWith([{ name: 'host', hostPath: { path: '/none', type: 'Directory' } }]);
  const first = await host.volumes.ensure(pod, signal);
  const second = await host.volumes.ensure(pod, signal);
  const detail = 'MountVolume.SetUp failed for volume "host" : hostPath type check failed: /none is not a directory';
  const wait = { kind: 'wait', reason: 'FailedMount', detail, wakeOn: [{ kind: 'time' }] };
  assert.deepEqual(
    [first, second],
    [
      { ...wait, atLatestMs: 500 },
      { ...wait, atLatestMs: 1000 },
    ],
  );
});

test('all that is wrong is said at once', async () => {
  const host = await aVolumeHost();
  const outcome = await host.volumes.ensure(podWith([access, secret, { name: 'disk', persistentVolumeClaim: { claimName: 'c' } }]), signal);
  assert.equal(
    outcome.kind === 'wait' && outcome.detail,
    [
      'MountVolume.SetUp failed for volume "access" : configmap "kube-root-ca.crt" not found',
      'MountVolume.SetUp failed for volume "sec" : secret "secret" not found',
      'MountVolume.SetUp failed for volume "disk" : volumes of type persistentVolumeClaim are not supported by this node',
    ].join('; '),
  );
});

test('an API server that does not answer holds the pod and is named', async () => {
  const host = await aVolumeHost();
  host.objects.failure = new Unavailable({ message: 'failed to sync configmap cache: timed out waiting for the condition' });
  const outcome = await host.volumes.ensure(podWith([settings]), signal);
  assert.equal(
    outcome.kind === 'wait' && outcome.detail,
    'MountVolume.SetUp failed for volume "conf" : failed to sync configmap cache: timed out waiting for the condition',
  );
});

test('content follows its object in a running pod', async () => {
  const host = await aVolumeHost();
  host.objects.put(aConfigMap());
  await host.volumes.ensure(podWith([settings]), signal);
  host.objects.put(aConfigMap({ data: { key: 'new', more: 'x' } }));
  await settled();
  const file = (name: string) => host.read(`${PODS}/volumes/kubernetes.io~configmap/conf/${name}`);
  assert.deepEqual([await file('key'), await file('more')], ['new', 'x']);
});

test('an object that goes away leaves the old content and is told', async () => {
  const host = await aVolumeHost();
  host.objects.put(aConfigMap());
  const pod = podWith([settings]);
  await host.volumes.ensure(pod, signal);
  host.objects.remove(aConfigMap());
  await settled();
  const message = 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found';
  assert.deepEqual(host.events, [{ type: 'Warning', reason: 'FailedMount', message }]);
  assert.equal(await host.read(`${PODS}/volumes/kubernetes.io~configmap/conf/key`), 'value');
  assert.equal((await host.volumes.ensure(pod, signal)).kind, 'mounted');
  host.objects.put(aConfigMap({ data: { key: 'again' } }));
  await settled();
  assert.equal(await host.read(`${PODS}/volumes/kubernetes.io~configmap/conf/key`), 'again');
});

test('labels that change are seen in a running pod', async () => {
  const host = await aVolumeHost();
  const info: Volume = { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } };
  await host.volumes.ensure(podWith([info], {}, { a: '1' }), signal);
  await host.volumes.ensure(podWith([info], {}, { a: '2' }), signal);
  assert.equal(await host.read(`${MEMORY}/u1/kubernetes.io~downward-api/info/labels`), 'a="2"');
});

test('a token is renewed in time', async () => {
  const host = await aVolumeHost();
  host.objects.put(rootCa);
  await host.volumes.ensure(podWith([access]), signal);
  const token = () => host.read(`${MEMORY}/u1/kubernetes.io~projected/access/token`);
  await host.clock.advance(799_000);
  await settled();
  assert.equal(await token(), 'token-1');
  await host.clock.advance(1000);
  await settled();
  assert.equal(await token(), 'token-2');
});

test('a token of a pod with one user, or with a group, is nobody else’s', async () => {
  const modeOf = async (spec: DeepPartial<PodSpec>) => {
    const host = await aVolumeHost();
    host.objects.put(rootCa);
    await host.volumes.ensure(podWith([access], spec), signal);
    const facts = await host.files.stat(`${MEMORY}/u1/kubernetes.io~projected/access/..data/token`, signal);
    return [facts?.mode.toString(8), facts?.uid, facts?.gid];
  };
  assert.deepEqual(await modeOf({}), ['644', 0, 0]);
  assert.deepEqual(await modeOf({ securityContext: { runAsUser: 7 } }), ['600', 7, 0]);
  assert.deepEqual(await modeOf({ securityContext: { fsGroup: 9 } }), ['640', 0, 9]);
});

test('after a restart of the kubelet nothing is lost and nothing is made twice', async () => {
  const host = await aVolumeHost();
  host.objects.put(aConfigMap());
  const pod = podWith([settings, { name: 'ram', emptyDir: { medium: 'Memory' } }, { name: 'scratch', emptyDir: {} }], {
    securityContext: { fsGroup: 9 },
  });
  const before = paths(await host.volumes.ensure(pod, signal));
  await host.files.write(`${before['ram']}/mine`, 'kept', 0o600, signal);
  await host.files.write(`${before['scratch']}/mine`, 'kept', 0o600, signal);
  await host.files.changeMode(before['scratch'] ?? '', 0o755, signal);
  const data = await host.files.readLink(`${before['conf']}/..data`, signal);

  const restarted = host.restart();
  assert.deepEqual([...(await restarted.find('u1', signal))].sort(), ['conf', 'ram', 'scratch']);
  assert.deepEqual(paths(await restarted.ensure(pod, signal)), before);
  const facts = await Promise.all(
    [`${before['ram']}/mine`, `${before['scratch']}/mine`, before['scratch'] ?? ''].map((path) => host.files.stat(path, signal)),
  );
  assert.deepEqual(
    facts.map((one) => one?.mode),
    [0o600, 0o600, 0o755],
  );
  assert.equal(await host.files.readLink(`${before['conf']}/..data`, signal), data);
  assert.equal((await host.mounter.listBelow('/', signal)).length, 1);

  await host.restart().release('u1', signal);
  assert.deepEqual(await remains(host), []);
});

test('what a container mounted in its volume ends with the pod, and the files behind it stay', async () => {
  const host = await aVolumeHost();
  const before = paths(await host.volumes.ensure(podWith([{ name: 'scratch', emptyDir: {} }]), signal));
  await host.files.ensureDirectory('/share', 0o755, signal);
  await host.files.write('/share/precious', 'kept', 0o644, signal);
  const inner = `${before['scratch']}/inner`;
  await host.files.ensureDirectory(inner, 0o755, signal);
  await host.mounter.bind('/share', inner, { readOnly: false, recursive: false }, signal);
  await host.restart().release('u1', signal);
  assert.deepEqual(await remains(host), []);
  assert.equal(await host.read('/share/precious'), 'kept');
});

test('of plugins that nobody knows empty folders go, and files stay with all that is around them', async () => {
  const host = await aVolumeHost();
  const nfs = `${PODS}/volumes/kubernetes.io~nfs`;
  await host.files.ensureDirectory(`${nfs}/empty`, 0o755, signal);
  await host.files.ensureDirectory(`${nfs}/share`, 0o755, signal);
  await host.files.write(`${nfs}/share/precious`, 'kept', 0o644, signal);
  await assert.rejects(host.volumes.release('u1', signal), { message: `failed to rmdir() volume at path ${nfs}/share: directory not empty` });
  assert.equal(await host.read(`${nfs}/share/precious`), 'kept');
  await host.files.removeTree(`${nfs}/share/precious`, signal);
  await host.volumes.release('u1', signal);
  assert.deepEqual(await remains(host), []);
});

test('a sub path is a mount of its own that ends with the pod', async () => {
  const host = await aVolumeHost();
  const outcome = await host.volumes.ensure(podWith([{ name: 'scratch', emptyDir: {} }]), signal);
  const volume = outcome.kind === 'mounted' ? outcome.volumes.get('scratch') : undefined;
  assert.ok(volume);
  const target = await host.volumes.prepareSubPath({ podUid: 'u1', containerName: 'main', index: 2, volume, relative: 'logs/app' }, signal);
  assert.equal(target, `${PODS}/volume-subpaths/scratch/main/2`);
  await host.files.write(`${target}/f`, 'x', 0o644, signal);
  assert.equal(await host.read(`${volume.hostPath}/logs/app/f`), 'x');
  await host.files.link('/etc', `${volume.hostPath}/evil`, signal);
  await host.files.ensureDirectory('/etc', 0o755, signal);
  await assert.rejects(host.volumes.prepareSubPath({ podUid: 'u1', containerName: 'main', index: 3, volume, relative: 'evil' }, signal), {
    code: 'PATH_ESCAPES',
  });
  await host.volumes.release('u1', signal);
  assert.deepEqual(await remains(host), []);
});

test('a setting up that is asked for twice at once is done once', async () => {
  const host = await aVolumeHost();
  host.objects.put(rootCa);
  const pod = podWith([access]);
  const [first, second] = await Promise.all([host.volumes.ensure(pod, signal), host.volumes.ensure(pod, signal)]);
  assert.deepEqual(paths(first), paths(second));
  assert.equal(await host.read(`${MEMORY}/u1/kubernetes.io~projected/access/token`), 'token-1');
});

test('what a pod will need is fetched ahead, and nothing is made', async () => {
  const host = await aVolumeHost();
  host.objects.put(rootCa);
  host.volumes.prepare(podWith([access]));
  await settled();
  assert.deepEqual([host.objects.watched, host.issued(), await remains(host)], [['configmap/default/kube-root-ca.crt'], 1, []]);
  await host.volumes.release('u1', signal);
  assert.deepEqual(host.objects.watched, []);
});
