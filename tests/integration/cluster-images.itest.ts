import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { buildImage } from '#cluster/images/build-image.ts';
import { listImages, loadImage } from '#cluster/images/cluster-images.ts';
import { containerConfig, host, hostSide, never, sandboxConfig } from '../support/host-side.ts';

const side = await hostSide();

before(async () => {
  await side.up();
});

test('an image that is built from files runs, and is listed under its full name', async () => {
  const folder = `${side.dataDir}/site`;
  await mkdir(`${folder}/deep`, { recursive: true });
  await writeFile(`${folder}/deep/page`, 'hello from a page\n');
  await symlink('deep/page', `${folder}/short`);
  const archive = await buildImage(
    {
      name: 'demo:1',
      copies: [{ from: folder, to: '/srv/site' }],
      onBusybox: true,
      config: { entrypoint: ['cat'], command: ['/srv/site/short'], environment: ['WHO=demo'], workingDir: '/srv', user: '' },
    },
    host,
    never,
  );
  assert.deepEqual(await loadImage(side, archive, host, never), ['docker.io/library/demo:1']);
  const names = (await listImages(side, host, never)).flatMap((image) => image.names);
  assert.ok(names.includes('docker.io/library/demo:1'), names.join(' '));

  const runtime = side.runtime();
  const config = sandboxConfig(side, 'demo');
  const sandbox = await runtime.runPodSandbox(config, '', never);
  const plain = containerConfig('main', []);
  const container = await runtime.createContainer(sandbox, { ...plain, image: { ...(plain.image ?? fail()), image: 'demo:1' } }, config, never);
  await runtime.startContainer(container, never);
  const log = await untilText(`${side.dataDir}/pod-logs/demo/main.log`);
  assert.match(log, /hello from a page/);
  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
  runtime.close();
});

test('what is no archive is refused', async () => {
  await assert.rejects(loadImage(side, Buffer.from('not a tar'), host, never), { code: 'CANNOT_LOAD_IMAGES' });
});

test('a cluster that is not there cannot take images', async () => {
  await assert.rejects(loadImage({ name: 'nobody-has-this' }, Buffer.alloc(0), host, never), { code: 'NOT_FOUND', hint: /kubernode up/ });
});

async function untilText(file: string): Promise<string> {
  await host.files.waitForText(file, (text) => text.includes('\n'), AbortSignal.timeout(10_000));
  return (await host.files.readText(file)) ?? '';
}

function fail(): never {
  throw new Error('the configuration has no image');
}
