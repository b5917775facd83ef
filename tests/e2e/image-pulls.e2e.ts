import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { podStartups } from '#startup/pod-startup.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { toldOf } from '../support/events.ts';
import { backsOff, podOf } from '../support/image-pods.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, waitForPod } from '../support/pods.ts';
import { startRegistry, type TestRegistry } from '../support/registry.ts';
import { startCluster } from '../support/start-cluster.ts';

// Pulls over a network that is slow or broken.

const [cluster, registry] = await Promise.all([
  startCluster({ kubelet: { serializeImagePulls: false, registryPullQPS: 0 }, upFlags: ['--timing', 'imageBackoffBaseMs=3000'] }),
  startRegistry(),
]);
after(() => registry.stop());
const { kubectl } = cluster;

const told = (name: string, reason: string, words: RegExp) => toldOf(cluster, name, reason, (message) => words.test(message));
const gets = ({ requests }: TestRegistry, what: string) => requests.filter((line) => line.startsWith('GET') && line.includes(what)).length;

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

test('how far a pull has come is in the record of the start, and why says it', async () => {
  const { reference, layerDigest } = await registry.push('large:1', { paddingBytes: 8e6 });
  const half = gate();
  registry.fault = (line) => (line.includes(layerDigest) ? { kind: 'paused', until: half.opened } : undefined);
  await apply(kubectl, podOf('large', reference));
  const watched = cluster.client.watch(podStartups, { namespace: 'default', fieldSelector: 'metadata.name=large' }, AbortSignal.timeout(30_000));
  for await (const event of watched) {
    const [pull] = 'object' in event ? (event.object.pulls ?? []) : [];
    if (pull === undefined || pull.bytes < 4e6) continue;
    assert.deepEqual([pull.image, pull.layers, pull.layersDone, pull.otherPulls], [reference, 1, 0, 0]);
    assert.ok(pull.totalBytes > 8e6 && pull.bytes < pull.totalBytes, JSON.stringify(pull));
    break;
  }
  const { stdout } = await cluster.kubernode('why', 'large');
  assert.match(stdout, new RegExp(`^it pulls image ${reference}: \\d\\.\\d of \\d+\\.\\d MB, 0 of 1 layers done so far$`, 'm'));
  half.open();
  await waitForPod(kubectl, 'large');
  for await (const event of cluster.client.watch(podStartups, { namespace: 'default' }, AbortSignal.timeout(30_000))) {
    if ('object' in event && event.object.metadata.name === 'large' && event.object.pulls?.length === 0) break;
  }
  registry.fault = () => undefined;
});

test('many pods share the pull of a slow layer', async () => {
  const { reference, layerDigest } = await registry.push('slow:1', { paddingBytes: 1e6 });
  const { opened: until, open: release } = gate();
  registry.fault = (line) => (line.includes(layerDigest) ? { kind: 'held', until } : undefined);
  const names = Array.from({ length: 12 }, (_, index) => `slow-${index}`);
  await apply(kubectl, ...names.map((name) => podOf(name, reference, { container: { imagePullPolicy: 'Always' } })));
  for (const name of names) await told(name, 'Pulling', /^Pulling image /);
  outputOf(await kubectl('delete pod slow-0 --timeout=20s')); // the others still want it
  release();
  outputOf(await kubectl(['wait', ...names.slice(1).map((name) => `pod/${name}`), '--for=condition=Ready', '--timeout=60s']));
  assert.equal(gets(registry, layerDigest), 1);
  assert.equal(registry.requests.filter((line) => line.endsWith('/slow/manifests/1')).length, 1);
  registry.fault = () => undefined;
});

test('a pull ends with the last pod that waits for it', async () => {
  const { reference, layerDigest } = await registry.push('endless:1');
  registry.fault = (line) => (line.includes(layerDigest) ? { kind: 'held', until: new Promise(() => undefined) } : undefined);
  const broken = registry.brokenOff(new RegExp(layerDigest));
  await apply(kubectl, podOf('endless', reference));
  await told('endless', 'Pulling', /^Pulling image /);
  outputOf(await kubectl('delete pod endless --timeout=20s'));
  await broken;
  registry.fault = () => undefined;
});

test('a broken layer is refused, and pulled again when it is mended', async () => {
  const [cut, garbled] = [await registry.push('cut:1', { paddingBytes: 1e6 }), await registry.push('garbled:1')];
  registry.fault = (line) => {
    if (line.includes(cut.layerDigest)) return { kind: 'cut' };
    return line.includes(garbled.layerDigest) ? { kind: 'garbled' } : undefined;
  };
  await apply(kubectl, podOf('cut', cut.reference), podOf('garbled', garbled.reference));
  assert.match(
    await backsOff(kubectl, 'garbled'),
    /: ErrImagePull: rpc error: code = FailedPrecondition desc = .*: unexpected commit digest sha256:/,
  );
  assert.match(await backsOff(kubectl, 'cut'), /: ErrImagePull: failed to pull and unpack image .*: unexpected EOF$/);
  registry.fault = () => undefined;
  await waitForPod(kubectl, 'garbled');
  await waitForPod(kubectl, 'cut');
  const runtime = createCriRuntime({ endpoint: `unix://${cluster.paths.containerdSocket}`, clock: systemClock, containerdEvents: false });
  const left = await runtime.downloads(AbortSignal.timeout(10_000)).finally(() => runtime.close());
  const digests = [cut.layerDigest, garbled.layerDigest];
  assert.deepEqual(
    left?.filter(({ ref }) => digests.some((digest) => ref.endsWith(digest))),
    [],
    'nothing half done stays',
  );
});
