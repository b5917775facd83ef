import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { Exec, KubeConfig, type V1Status } from '@kubernetes/client-node';
import type { CriRuntime } from '#wire/cri/cri-runtime.ts';
import { hostSide } from '../support/host-side.ts';
import { kubectlOf, kubectlPath, kubectlVersions, outputOf } from '../support/kubectl.ts';
import { firstMatch, type StreamingNode, startStreamingNode } from '../support/streaming-node.ts';

let runtime: CriRuntime;
let node: StreamingNode;

// Before the host side's own end is registered: what runs on it goes first.
after(async () => {
  await node[Symbol.asyncDispose]();
  await runtime.close();
});

const side = await hostSide();

before(async () => {
  await side.up();
  runtime = side.runtime();
  node = await startStreamingNode(side, runtime);
  await node.run('web', {
    main: ['sh', '-c', 'echo hello; echo problem; mkdir /www; echo page > /www/index.html; exec httpd -f -p 8080 -h /www'],
  });
  await node.run('two', { a: ['sleep', '1000'], b: ['sh', '-c', 'echo from b; sleep 1000'] });
});

for (const version of kubectlVersions) {
  const kubectl: ReturnType<typeof kubectlOf> = (words, options) => kubectlOf(node.api.kubeconfigFile, version)(words, options);

  test(`kubectl ${version} reads logs, the last lines of them, and with their times`, async () => {
    assert.equal(outputOf(await kubectl('logs web')), 'hello\nproblem\n');
    assert.equal(outputOf(await kubectl('logs web --tail=1')), 'problem\n');
    assert.match(outputOf(await kubectl('logs web --timestamps --limit-bytes=36')), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z hello$/m);
    assert.equal(outputOf(await kubectl('logs two -c b')), 'from b\n');
  });

  test(`kubectl ${version} is told what is wrong with a question for logs`, async () => {
    assert.match((await kubectl('logs web --previous')).stderr, /previous terminated container "main" in pod "web" not found/);
    assert.match((await kubectl('logs web -c other')).stderr, /container other is not valid for pod web/);
    assert.match((await kubectl('logs nobody')).stderr, /pods "nobody" not found/);
  });

  test(`kubectl ${version} runs a command and gets its output and its exit code`, async () => {
    const result = await kubectl(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
    assert.deepEqual([result.code, result.stdout], [3, 'out\n']);
    assert.match(result.stderr, /^err\n/);
  });

  test(`kubectl ${version} gives a command its input, and gets a lot back`, async () => {
    const input = 'a line of input\n'.repeat(20_000);
    const result = await kubectl(['exec', '-i', 'web', '--', 'cat'], { input });
    assert.equal(result.code, 0, result.stderr);
    assert.equal(result.stdout, input);
  });

  test(`kubectl ${version} is told that a command or container is not there`, async () => {
    assert.notEqual((await kubectl('exec web -- /no/such/program')).code, 0);
    assert.match((await kubectl('exec web -c other -- true')).stderr, /container other is not valid for pod web/);
  });

  test(`kubectl ${version} copies a file there and back`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubernode-cp-'));
    try {
      const content = 'copied\n'.repeat(50_000);
      await writeFile(join(folder, 'there'), content);
      outputOf(await kubectl(['cp', join(folder, 'there'), `web:/tmp/copy-${version}`]));
      outputOf(await kubectl(['cp', `web:/tmp/copy-${version}`, join(folder, 'back')]));
      assert.equal(await readFile(join(folder, 'back'), 'utf8'), content);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test(`kubectl ${version} forwards a port, for several connections`, async () => {
    const child = spawn(kubectlPath(version), ['--kubeconfig', node.api.kubeconfigFile, 'port-forward', 'web', ':8080'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const port = await firstMatch(child.stdout, /127\.0\.0\.1:(\d+)/);
      for (let round = 0; round < 3; round += 1) assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'page\n');
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });

  test(`kubectl ${version} attaches to what runs`, async () => {
    const name = `echo-${version.replace('.', '-')}`;
    await node.run(name, { main: ['sh', '-c', 'while read line; do echo "got $line"; [ "$line" = end ] && exit 0; done'] }, { stdin: true });
    const result = await kubectl(['attach', '-i', name], { input: 'one\nend\n' });
    assert.match(result.stdout, /got one\ngot end\n/);
  });

  test(`kubectl ${version} follows a log until the container ends`, async () => {
    const name = `talk-${version.replace('.', '-')}`;
    await node.run(name, { main: ['sh', '-c', 'for i in 1 2 3; do echo $i; sleep 0.2; done'] });
    assert.equal(outputOf(await kubectl(['logs', '-f', name])), '1\n2\n3\n');
    await node.refresh(name);
    assert.equal(outputOf(await kubectl(['logs', name])), '1\n2\n3\n');
  });
}

test('the JavaScript client runs a command over its own WebSocket', async () => {
  const config = new KubeConfig();
  config.loadFromFile(node.api.kubeconfigFile);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const status = await new Promise<V1Status>((resolve, reject) => {
    new Exec(config).exec('default', 'web', 'main', ['sh', '-c', 'echo out; exit 4'], stdout, stderr, null, false, resolve).catch(reject);
  });
  assert.equal(status.details?.causes?.[0]?.message, '4');
  assert.equal(String(stdout.read()), 'out\n');
});

test('pages of the kubelet are reached through nodes/proxy', async () => {
  const kubectl = kubectlOf(node.api.kubeconfigFile);
  assert.equal(outputOf(await kubectl('get --raw /api/v1/nodes/node-1/proxy/healthz')), 'ok');
  const pods = JSON.parse(outputOf(await kubectl('get --raw /api/v1/nodes/node-1/proxy/pods'))) as {
    kind: string;
    items: { metadata: { name: string } }[];
  };
  assert.equal(pods.kind, 'PodList');
  assert.ok(pods.items.some(({ metadata }) => metadata.name === 'web'));
});

test('nobody else talks to the kubelet', async () => {
  const status = (options: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const path = '/pods';
      request({ host: '127.0.0.1', port: node.kubeletPort, path, ca: node.caPem, ...options }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  assert.equal(await status({}), 401);
  const { certPem: cert, keyPem: key } = await node.api.clientCertificate('admin', ['system:masters']);
  assert.equal(await status({ cert, key }), 401, 'of another authority');
  assert.equal(await status(node.stranger), 403);
});

test('a kubelet that is gone is said in the words that users know', async () => {
  await node.kubelet.close();
  const kubectl = kubectlOf(node.api.kubeconfigFile);
  assert.match((await kubectl('exec web -- true')).stderr, /error dialing backend: dial tcp 127\.0\.0\.1:\d+: connect: connection refused/);
  assert.match(
    (await kubectl('logs web')).stderr,
    /Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/web\/main": dial tcp 127\.0\.0\.1:\d+: connect: connection refused/,
  );
});
