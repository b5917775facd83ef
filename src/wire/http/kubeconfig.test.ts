import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKubeconfig } from './kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function aKubeconfig(user: string): string {
  return `
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}, {name: other, context: {cluster: d, user: u}}]
clusters:
- {name: d, cluster: {server: "https://other"}}
- name: c
  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: ${base64('CA')}}
users:
- name: u
  user: ${user}
`;
}

test('the current context decides server, authority and client certificate', () => {
  const options = readKubeconfig(aKubeconfig(`{client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}}`));
  assert.deepEqual(options, {
    server: 'https://10.0.0.1:6443',
    caPem: 'CA',
    certPem: 'CERT',
    keyPem: 'KEY',
    token: undefined,
    serverName: undefined,
    insecureSkipVerify: false,
  });
});

test('files are read by the reader that is given, and refused without one', () => {
  const text = aKubeconfig('{tokenFile: /token}');
  assert.equal(readKubeconfig(text, (path) => `${path} content\n`).token, '/token content');
  assert.throws(() => readKubeconfig(text), /tokenFile is a file, \/token, and files are not read here/);
});

const broken: readonly (readonly [string, string, RegExp])[] = [
  ['text that is not YAML', 'a: [', /not YAML/],
  ['a kubeconfig without a current context', 'kind: Config', /no current-context/],
  ['a context that is not there', 'current-context: x', /contexts has no entry named "x"/],
  [
    'a cluster without a server',
    'current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {}}]',
    /cluster "c" has no server/,
  ],
];
for (const [what, text, problem] of broken) {
  test(`${what} is refused with its problem`, () => {
    assert.throws(() => readKubeconfig(text), problem);
  });
}
