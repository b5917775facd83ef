import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMemoryNodes, topologyOptions } from './topology-options.ts';

test('options are read, and what they cannot be is refused in the known words', () => {
  assert.deepEqual(topologyOptions({}), { mostMemoryNodes: 8, prefersClosest: false });
  assert.deepEqual(topologyOptions({ 'prefer-closest-numa-nodes': 'true', 'max-allowable-numa-nodes': '12' }), {
    mostMemoryNodes: 12,
    prefersClosest: true,
  });
  const refused = (given: Readonly<Record<string, string>>, message: string) => assert.throws(() => topologyOptions(given), { message });
  refused({ other: 'true' }, 'unknown Topology Manager Policy option: "other"');
  refused(
    { 'prefer-closest-numa-nodes': 'yes' },
    'bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "yes": invalid syntax',
  );
  refused({ 'max-allowable-numa-nodes': '4' }, 'the minimum value of "max-allowable-numa-nodes" should not be less than 8');
});

test('a machine with more memory nodes than are allowed is refused', () => {
  assert.doesNotThrow(() => checkMemoryNodes(8, topologyOptions({})));
  assert.throws(() => checkMemoryNodes(9, topologyOptions({})), { message: 'unsupported on machines with more than 8 NUMA Nodes' });
  assert.doesNotThrow(() => checkMemoryNodes(9, topologyOptions({ 'max-allowable-numa-nodes': '9' })));
});
