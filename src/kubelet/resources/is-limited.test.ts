import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Container, PodSpec } from '#api/types/core-v1.ts';
import { isLimited } from './is-limited.ts';

function withLimits(limits: Readonly<Record<string, string>>): Container {
  return aContainer({ resources: { limits } });
}

function specOf(containers: readonly Container[], initContainers: readonly Container[] = [], rest: Partial<PodSpec> = {}): PodSpec {
  return { ...aPod().spec, containers, initContainers, ...rest };
}

test('a pod is limited when each container is, with the sidecars beside an init container, or when the pod itself is', () => {
  const limited = withLimits({ cpu: '1' });
  const sidecar: Container = { ...limited, restartPolicy: 'Always' };
  const free = withLimits({});
  const table: readonly (readonly [PodSpec, boolean])[] = [
    [specOf([limited]), true],
    [specOf([limited, free]), false],
    [specOf([limited, withLimits({ cpu: '0' })]), false],
    [specOf([limited], [free]), false],
    [specOf([limited], [sidecar, free]), true],
    [specOf([free], [], { resources: { limits: { cpu: '1' } } }), true],
  ];
  for (const [spec, expected] of table) assert.equal(isLimited(spec, 'cpu'), expected, JSON.stringify(spec));
  assert.equal(isLimited(specOf([limited]), 'memory'), false);
});
