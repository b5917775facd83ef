import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { hostNetworkHostsFile, hostsFile } from './hosts-file.ts';

const head = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;
const hostAliases = [{ ip: '10.1.1.1', hostnames: ['a', 'b'] }];

test('a line for each address of the pod, with its domain if it has one', () => {
  const hostname = { hostname: 'web', domain: '', kernelName: 'web' };
  assert.equal(hostsFile(aPod(), ['10.0.0.2', 'fd00::2'], hostname), `${head}10.0.0.2\tweb\nfd00::2\tweb\n`);
  assert.equal(hostsFile(aPod(), ['10.0.0.2'], { ...hostname, domain: 'db.svc' }), `${head}10.0.0.2\tweb.db.svc\tweb\n`);
});

test('aliases come in a block of their own', () => {
  const file = hostsFile(aPod({ spec: { hostAliases } }), ['10.0.0.2'], { hostname: 'web', domain: '', kernelName: 'web' });
  assert.equal(file, `${head}10.0.0.2\tweb\n\n# Entries added by HostAliases.\n10.1.1.1\ta\tb\n`);
});

test('in the network of the node its own file is shown', () => {
  const file = hostNetworkHostsFile(aPod({ spec: { hostAliases } }), '127.0.0.1 localhost\n');
  assert.equal(file, '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\n# Entries added by HostAliases.\n10.1.1.1\ta\tb\n');
});
