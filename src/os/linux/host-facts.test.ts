import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultRouteOf, prettyNameOf } from './host-facts.ts';

test('the name of the operating system loses its quotes', () => {
  assert.equal(prettyNameOf('NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'), 'Debian GNU/Linux 12 (bookworm)');
  assert.equal(prettyNameOf('PRETTY_NAME=Alpine\n'), 'Alpine');
  assert.equal(prettyNameOf(''), 'Linux');
});

test('the default route is the one to everywhere', () => {
  const head = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n';
  const near = 'eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n';
  const far = 'eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n';
  assert.equal(defaultRouteOf(head + near + far), 'eth0');
  assert.equal(defaultRouteOf(head + near), undefined);
});
