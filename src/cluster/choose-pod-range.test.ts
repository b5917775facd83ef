import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bridgeAddressOf, choosePodRange, chooseServiceRange, firstAddressOf, nodeRangeOf } from './choose-pod-range.ts';

test('a name always has the same range while nobody else has it', () => {
  assert.equal(choosePodRange('00000401', []), '10.64.16.0/20');
  assert.equal(choosePodRange('00000401', ['192.0.2.0/24', '10.64.0.0/20']), '10.64.16.0/20');
});

test('a range that a route or another cluster has is passed over', () => {
  assert.equal(choosePodRange('00000401', ['10.64.16.0/20', '10.64.33.0/24']), '10.64.48.0/20');
});

test('the search starts over at the end of the space', () => {
  assert.equal(choosePodRange('000003ff', ['10.127.240.0/20']), '10.64.0.0/20');
});

test('services are elsewhere than the pods of the cluster and of all others', () => {
  assert.equal(chooseServiceRange('00000401', [choosePodRange('00000401', [])]), '10.64.32.0/20');
  assert.equal(chooseServiceRange('00000c01', ['10.64.16.0/20', '10.64.48.0/20']), '10.64.64.0/20');
});

test('a host without room says what to do', () => {
  assert.throws(() => choosePodRange('00000001', ['10.0.0.0/8']), { code: 'UNAVAILABLE', hint: /--pod-cidr/ });
});

test('the node, the bridge and the first service have the first place in their ranges', () => {
  assert.equal(nodeRangeOf('10.64.16.0/20'), '10.64.16.0/24');
  assert.equal(nodeRangeOf('10.99.0.128/26'), '10.99.0.128/26');
  assert.equal(bridgeAddressOf('10.64.16.0/24'), '10.64.16.1/24');
  assert.equal(firstAddressOf('10.43.0.0/16'), '10.43.0.1');
});
