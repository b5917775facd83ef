import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { DockerFiles, dockerConfigFiles } from './docker-files.ts';

const { signal } = new AbortController();
const paths = dockerConfigFiles('/var/lib/kubelet', '/', '/root');
const entry = (username: string) => ({ 'r.io': { username, password: 'p' } });

function aNode(content: Record<string, unknown>) {
  const clock = new FakeClock();
  const files = {
    async read(path: string) {
      const found = content[path];
      if (found instanceof Error) throw found;
      return found === undefined ? undefined : new TextEncoder().encode(typeof found === 'string' ? found : JSON.stringify(found));
    },
  };
  const docker = new DockerFiles({ files, clock, paths });
  const of = async (repository: string) =>
    (await docker.credentials(repository, signal)).map(({ auth, source }) => `${auth.username} ${source.kind}`);
  return { of, clock };
}

test('the first file that can be read counts alone, newer forms before older', async () => {
  assert.deepEqual(
    paths.map(({ path }) => path),
    [
      '/var/lib/kubelet/config.json',
      '/config.json',
      '/root/.docker/config.json',
      '/.docker/config.json',
      '/var/lib/kubelet/.dockercfg',
      '/.dockercfg',
      '/root/.dockercfg',
      '/.dockercfg',
      '/var/lib/kubelet/.dockerconfigjson',
      '/.dockerconfigjson',
      '/root/.dockerconfigjson',
      '/.dockerconfigjson',
    ],
  );
  const { of } = aNode({
    '/var/lib/kubelet/config.json': '{ broken',
    '/config.json': new Unavailable({ message: 'no' }),
    '/root/.docker/config.json': { auths: entry('home') },
    '/var/lib/kubelet/.dockercfg': entry('old'),
  });
  assert.deepEqual([await of('r.io/app'), await of('other.io/app')], [['home node'], []]);
  assert.deepEqual(await aNode({ '/.dockercfg': entry('old') }).of('r.io/app'), ['old node']);
  assert.deepEqual(await aNode({}).of('r.io/app'), []);
});

test('a change of the file counts after five minutes', async () => {
  const content: Record<string, unknown> = { '/.docker/config.json': { auths: entry('before') } };
  const { of, clock } = aNode(content);
  await of('r.io/app');
  content['/.docker/config.json'] = { auths: entry('after') };
  await clock.advance(299_999);
  assert.deepEqual(await of('r.io/app'), ['before node']);
  await clock.advance(1);
  assert.deepEqual(await of('r.io/app'), ['after node']);
});
