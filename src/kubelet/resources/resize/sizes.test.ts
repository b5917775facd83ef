import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { areSameSizes, isSameSize, largerSize, parseSize, sizeOf, sizesOf, withSizes } from './sizes.ts';

const pod = aPod({
  spec: { containers: [aContainer({ resources: { requests: { cpu: '1', memory: '1Mi', 'x.io/gpu': '1' }, limits: { 'x.io/gpu': '1' } } })] },
});

test('sizes are compared by amount, and only CPU and memory count', () => {
  assert.equal(isSameSize(sizeOf({ requests: { cpu: '1' } }), sizeOf({ requests: { cpu: '1000m', 'x.io/gpu': '2' } })), true);
  assert.equal(isSameSize(sizeOf({ limits: { memory: '1Mi' } }), sizeOf({})), false);
});

test('a pod with its own sizes is the very same object', () => {
  assert.equal(withSizes(pod, sizesOf(pod)), pod);
});

test('a pod takes sizes, and keeps what cannot be resized', () => {
  const sized = withSizes(pod, { containers: { main: { requests: { cpu: '2' }, limits: { memory: '9' } } }, pod: undefined });
  assert.deepEqual(sized.spec?.containers[0]?.resources, {
    requests: { cpu: '2', 'x.io/gpu': '1' },
    limits: { memory: '9', 'x.io/gpu': '1' },
  });
  assert.equal(areSameSizes(sizesOf(sized), sizesOf(pod)), false);
});

test('while it shrinks a container counts with what is larger', () => {
  const both = largerSize(sizeOf({ requests: { cpu: '1', memory: '1Gi' } }), sizeOf({ requests: { cpu: '2', memory: '1Mi' }, limits: { cpu: '3' } }));
  assert.deepEqual(both, { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '3' } });
});

test('what is not the text of a size is none', () => {
  assert.deepEqual([parseSize(undefined), parseSize('{'), parseSize('{}')], [undefined, undefined, sizeOf({})]);
});
