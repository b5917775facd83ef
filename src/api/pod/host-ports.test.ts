import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { findConflict, type HostPort, hostPorts } from './host-ports.ts';

test('only ports of the node count, of containers and sidecars', () => {
  const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081, hostIP: '127.0.0.1', protocol: 'UDP' }];
  const pod = aPod({
    spec: {
      containers: [aContainer({ ports })],
      initContainers: [
        aContainer({ name: 'i', ports: [{ containerPort: 82, hostPort: 8082 }] }),
        aContainer({ name: 's', restartPolicy: 'Always', ports: [{ containerPort: 83, hostPort: 8083 }] }),
      ],
    },
  });
  assert.deepEqual(hostPorts(pod), [
    { ip: '0.0.0.0', protocol: 'TCP', port: 8083 },
    { ip: '127.0.0.1', protocol: 'UDP', port: 8081 },
  ]);
});

test('two pods cannot share a port whose addresses overlap', () => {
  const any = { ip: '0.0.0.0', protocol: 'TCP', port: 80 };
  const one = { ...any, ip: '10.0.0.1' };
  const conflicts = (a: HostPort, b: HostPort) => findConflict([a], [b]) !== undefined;
  assert.equal(conflicts(any, one), true);
  assert.equal(conflicts(one, one), true);
  assert.equal(conflicts(one, { ...one, ip: '10.0.0.2' }), false);
  assert.equal(conflicts(any, { ...any, protocol: 'UDP' }), false);
  assert.equal(conflicts(any, { ...any, port: 81 }), false);
  assert.deepEqual(findConflict([{ ...any, port: 81 }, one], [any]), one);
});
