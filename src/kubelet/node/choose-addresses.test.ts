import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseNodeAddresses } from './choose-addresses.ts';

const facts = {
  addresses: [
    { interface: 'docker0', address: '172.17.0.1', family: 4 },
    { interface: 'eth0', address: 'fd00::1', family: 6 },
    { interface: 'eth0', address: '10.0.0.1', family: 4 },
  ],
  defaultRouteInterface: 'eth0',
} as const;
const nowhere = async (): Promise<readonly string[]> => Promise.reject(new Error('no such host'));
const choose = (nodeIPs: readonly string[], nodeName = 'n1', lookup: (name: string) => Promise<readonly string[]> = nowhere) =>
  chooseNodeAddresses({ nodeName, nodeIPs }, facts, lookup);

test('addresses that were asked for are taken, two of different families in their order', async () => {
  assert.deepEqual(await choose(['172.17.0.1']), ['172.17.0.1']);
  assert.deepEqual(await choose(['fd00::1', '10.0.0.1']), ['fd00::1', '10.0.0.1']);
});

test('an address that cannot be the node’s is refused in upstream’s words', async () => {
  const refused = async (message: string, ...addresses: readonly string[]) => assert.rejects(choose(addresses), { code: 'INVALID_INPUT', message });
  await refused('failed to validate nodeIP: node IP: "10.0.0.9" not found in the host\'s network interfaces', '10.0.0.9');
  await refused("failed to validate nodeIP: nodeIP can't be loopback address", '127.0.0.1');
  await refused("failed to validate nodeIP: nodeIP can't be a multicast address", '224.0.0.1');
  await refused("failed to validate nodeIP: nodeIP can't be a link-local unicast address", 'fe80::1');
  await refused('failed to validate nodeIP: nodeIP must be valid IP address', '10.0.0');
  await refused('bad --node-ip "10.0.0.1,172.17.0.1"; must contain either a single IP or a dual-stack pair of IPs', '10.0.0.1', '172.17.0.1');
});

test('else the name decides: if it is an address, then what it resolves to, the preferred family first', async () => {
  assert.deepEqual(await choose([], '192.0.2.1'), ['192.0.2.1']);
  const lookup = async () => ['127.0.1.1', 'fd00::1', '172.17.0.1'];
  assert.deepEqual(await choose([], 'n1', lookup), ['172.17.0.1']);
  assert.deepEqual(await choose(['::'], 'n1', lookup), ['fd00::1']);
});

test('at last the interface that leads out; a host without addresses is no node', async () => {
  assert.deepEqual(await choose([]), ['10.0.0.1']);
  const lonely = { addresses: [], defaultRouteInterface: undefined };
  await assert.rejects(chooseNodeAddresses({ nodeName: 'n1', nodeIPs: [] }, lonely, nowhere), {
    message: "can't get ip address of node n1. error: no such host",
  });
});
