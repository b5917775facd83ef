import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hugePageBytes } from './huge-page-bytes.ts';

const asking = (...sizes: readonly string[]) => ({
  containers: sizes.map((size, index) => ({ name: `c${index}`, resources: { requests: { cpu: '1', [`hugepages-${size}`]: '4Mi' } } })),
});

test('huge pages of an emptyDir are those of its medium, or the only ones that the containers ask for', () => {
  assert.equal(hugePageBytes('HugePages', asking('2Mi', '2Mi')), 2_097_152);
  assert.equal(hugePageBytes('HugePages-1Gi', asking('2Mi', '1Gi')), 1_073_741_824);
});

test('huge pages that nobody asks for, or of several sizes, are refused in upstream\u2019s words', () => {
  const none = /^medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages$/;
  assert.throws(() => hugePageBytes('HugePages-2Mi', asking('1Gi')), { message: none });
  assert.throws(() => hugePageBytes('HugePages', asking('1Gi', '2Mi')), {
    message: "medium: HugePages can't be used if container requests multiple huge page sizes",
  });
});
