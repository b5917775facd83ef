import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { MemoryCgroups } from '#os/memory/cgroups.ts';
import { podCgroupsPort } from '../../resources/node-cgroups.ts';
import { createPodCgroups } from '../../resources/pod-cgroups.ts';
import { somePodCgroupsOptions } from '../../resources/testing/cgroup-options.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { cgroups } from './cgroups.ts';

const { ref, signal, pod, observed } = new StepWorld();

stepLaws('cgroups', () => {
  const host = new MemoryCgroups();
  const port = podCgroupsPort(createPodCgroups(host, somePodCgroupsOptions('/pods')), { apply: async () => undefined }, () => []);
  return { step: cgroups(port), pod: ref, facts: { pod, observed }, world: () => host.paths.filter((path) => path.includes(ref.uid)) };
});

test('a kernel that refuses is told of in the words of the event, and asked again', async () => {
  const refuse = async () => {
    throw new Unavailable({ message: 'mkdir: read-only file system' });
  };
  const outcome = await cgroups({ ensure: refuse, find: async () => undefined, remove: async () => undefined, resize: async () => undefined }).run(
    ref,
    { pod, observed },
    signal,
  );
  assert.deepEqual(outcome, {
    kind: 'wait',
    reason: 'FailedCreatePodContainer',
    detail: 'unable to ensure pod container exists: mkdir: read-only file system',
    wakeOn: [{ kind: 'time' }],
    atLatestMs: 10_000,
  });
});
