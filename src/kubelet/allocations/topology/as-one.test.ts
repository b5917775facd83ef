import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { asOneContainer } from './as-one.ts';

const container = (name: string, cpu: string, gadgets: string, more: Partial<Container> = {}): Container => {
  const amounts = { cpu, memory: '1', 'example.com/gadget': gadgets };
  return { name, image: 'a', resources: { limits: amounts, requests: amounts }, ...more };
};

test('containers beside each other add up, ordinary init containers come one after the other, parts of CPUs do not count', () => {
  const pod = aPod({
    spec: {
      initContainers: [container('first', '4', '1'), container('beside', '1', '1', { restartPolicy: 'Always' }), container('second', '2', '5')],
      containers: [container('main', '2', '1'), container('part', '1500m', '1')],
    },
    status: { qosClass: 'Guaranteed' },
  });
  assert.deepEqual(asOneContainer(pod).resources?.limits, { cpu: '4000m', memory: '3000m', 'example.com/gadget': '6000m' });
});
