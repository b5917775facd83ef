import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const { kubectl } = cluster;

const answering = (text: string, port: number) => ({
  command: ['sh', '-c', `mkdir /www; echo ${text} > /www/index.html; exec httpd -f -p ${port} -h /www`],
});

/** A port that nobody uses at the moment. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('pods reach each other by address', async () => {
  await apply(kubectl, sleeper('server', {}, answering('here', 8080)), sleeper('caller'));
  await Promise.all(['server', 'caller'].map((name) => waitForPod(kubectl, name)));
  const { status } = await getPod(kubectl, 'server');
  assert.equal(outputOf(await kubectl(`exec caller -- wget -q -O - http://${status?.podIP}:8080/`)), 'here\n');
});

test('a host port leads to the pod, and is closed when the pod is gone', async () => {
  const hostPort = await freePort();
  const ports = [{ containerPort: 8080, hostPort }];
  await apply(kubectl, sleeper('published', {}, { ...answering('published', 8080), ports }));
  await waitForPod(kubectl, 'published');
  const { status } = await getPod(kubectl, 'published');
  const url = `http://${status?.hostIP}:${hostPort}/`;
  assert.equal(await (await fetch(url)).text(), 'published\n');
  outputOf(await kubectl('delete pod published'));
  await assert.rejects(fetch(url, { signal: AbortSignal.timeout(2000) }));
});

test('a pod on the host’s network has the host’s address and no sandbox network of its own', async () => {
  const port = await freePort();
  await apply(kubectl, sleeper('on-host', { hostNetwork: true }, answering('on the host', port)));
  await waitForPod(kubectl, 'on-host');
  const { status } = await getPod(kubectl, 'on-host');
  assert.equal(status?.podIP, status?.hostIP);
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'on the host\n');
});

test('a second pod that wants a host port that is taken does not get the node', async () => {
  const hostPort = await freePort();
  const ports = [{ containerPort: 8080, hostPort }];
  await apply(kubectl, sleeper('first', {}, { ports }));
  await waitForPod(kubectl, 'first');
  await apply(kubectl, sleeper('second', {}, { ports }));
  await waitForPod(kubectl, 'second', 'PodScheduled=false');
  const { status } = await getPod(kubectl, 'second');
  const message = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
  assert.match(message, /^0\/1 nodes are available: 1 node\(s\) didn't have free ports for the requested pod ports\./);
});

test('a pod reaches what listens on the host', async () => {
  const callers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    callers.push(request.socket.remoteAddress);
    response.end('from the host\n');
  });
  after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  const { status } = await getPod(kubectl, 'caller');
  assert.equal(outputOf(await kubectl(`exec caller -- wget -q -O - http://${status?.hostIP}:${port}/`)), 'from the host\n');
  assert.deepEqual(callers, [status?.podIP]);
});
