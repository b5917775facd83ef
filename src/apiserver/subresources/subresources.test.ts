import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import type { Node, NodeStatus, Pod } from '#api/types/core-v1.ts';
import { attachStream } from './attach.ts';
import { chooseContainer } from './container-choice.ts';
import { execStream } from './exec.ts';
import { kubeletPath, kubeletUrl } from './kubelet-location.ts';
import { kubeletLogQuery } from './log.ts';
import { portForwardStream } from './port-forward.ts';
import { parseProxyName } from './proxy.ts';

const meta = { uid: 'u', resourceVersion: '1', creationTimestamp: '' };

function aPod(containers: readonly string[], initContainers: readonly string[] = []): Pod {
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta, name: 'p', namespace: 'ns' },
    spec: { containers: named(containers), initContainers: named(initContainers) },
  };
}

const aNode = (status: NodeStatus): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { ...meta, name: 'n' }, status });

const saying = (code: number, message: string) => (error: unknown) => {
  assert.ok(error instanceof StatusError);
  assert.deepEqual([error.status.code, error.status.message], [code, message]);
  return true;
};

test('the only container is meant when none is named', () => {
  assert.equal(chooseContainer(aPod(['a'], ['i']), ''), 'a');
});

test('init containers may be named too', () => {
  assert.equal(chooseContainer(aPod(['a', 'b'], ['i']), 'i'), 'i');
});

test('several containers need a name', () => {
  assert.throws(() => chooseContainer(aPod(['a', 'b']), ''), saying(400, 'a container name must be specified for pod p, choose one of: [a b]'));
});

test('a container that the pod does not have is refused', () => {
  assert.throws(() => chooseContainer(aPod(['a']), 'c'), saying(400, 'container c is not valid for pod p'));
});

test('exec is asked of the kubelet in its own words, the command in order', () => {
  const asked = new URLSearchParams('command=sh&command=-c&command=echo+a%26b&stdin=false&stdout=true&stderr=1&tty=0&container=a');
  const { segments, query } = execStream(aPod(['a']), asked);
  assert.deepEqual(segments, ['exec', 'ns', 'p', 'a']);
  assert.equal(query.toString(), 'output=1&error=1&command=sh&command=-c&command=echo+a%26b');
});

test('attach and port-forward keep what they need', () => {
  assert.equal(attachStream(aPod(['a']), new URLSearchParams('stdin=true&tty=true&command=x')).query.toString(), 'input=1&tty=1');
  assert.equal(portForwardStream(aPod(['a']), new URLSearchParams('ports=80&ports=81')).query.toString(), 'port=80%2C81');
  assert.equal(portForwardStream(aPod(['a']), new URLSearchParams()).query.toString(), '');
});

test('a kubelet is reached at the internal address and the port that its node tells', () => {
  const addresses = [
    { type: 'Hostname', address: 'n' },
    { type: 'InternalIP', address: '10.0.0.1' },
  ];
  assert.equal(kubeletUrl(aNode({ addresses, daemonEndpoints: { kubeletEndpoint: { Port: 4000 } } })).host, '10.0.0.1:4000');
  assert.equal(kubeletUrl(aNode({ addresses: [{ type: 'InternalIP', address: 'fd00::1' }] })).host, '[fd00::1]:10250');
  const odd = [{ type: 'Odd', address: 'x' }];
  assert.throws(() => kubeletUrl(aNode({ addresses: odd })), saying(500, 'no preferred addresses found; known addresses: [{Odd x}]'));
});

test('names are encoded in the path', () => {
  assert.equal(kubeletPath(new URL('https://h:1'), ['exec', 'a/b', 'c'], new URLSearchParams('x=1')).href, 'https://h:1/exec/a%2Fb/c?x=1');
});

test('log options go on as they are when they are valid, others stay here', () => {
  const asked = new URLSearchParams('container=a&follow=true&previous=false&tailLines=0&limitBytes=5&sinceSeconds=3&pretty=true');
  assert.equal(kubeletLogQuery(asked).toString(), 'follow=true&sinceSeconds=3&tailLines=0&limitBytes=5');
});

for (const [query, code, message] of [
  ['tailLines=-1', 422, 'PodLogOptions "" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['limitBytes=0', 422, 'PodLogOptions "" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
] as const) {
  test(`log options ${query} are refused`, () => {
    assert.throws(() => kubeletLogQuery(new URLSearchParams(query)), saying(code, message));
  });
}

test('two ways to say since are refused', () => {
  assert.throws(
    () => kubeletLogQuery(new URLSearchParams('sinceSeconds=1&sinceTime=2026-12-02T03:00:00Z')),
    /at most one of `sinceTime` or `sinceSeconds` may be specified/,
  );
});

test('a proxied name may have a scheme and a port', () => {
  assert.deepEqual(parseProxyName('n'), { scheme: '', name: 'n', port: '' });
  assert.deepEqual(parseProxyName('n:10250'), { scheme: '', name: 'n', port: '10250' });
  assert.deepEqual(parseProxyName('https:n:10250'), { scheme: 'https', name: 'n', port: '10250' });
  assert.deepEqual(parseProxyName('https:n:'), { scheme: 'https', name: 'n', port: '' });
  for (const wrong of ['', 'a:b:c:d', 'ftp:n:1']) assert.equal(parseProxyName(wrong), undefined);
});
