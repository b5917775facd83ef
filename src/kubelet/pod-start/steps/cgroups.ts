import type { PodCgroupsPort } from '../../ports/pod-cgroups.ts';
import type { CgroupFact, PodFacts } from '../facts.ts';
import { waitAfter } from '../failure.ts';
import type { Step } from '../step.ts';

/** The pod's own cgroup, below the one of its class of service; a pod that was given another size gets it here. */
export const cgroups = (port: PodCgroupsPort): Step<Pick<PodFacts, 'pod' | 'observed'>, CgroupFact, 'FailedCreatePodContainer'> => ({
  name: 'cgroups',
  title: 'Make the cgroup',
  reads: ['pod', 'observed'],
  writes: ['cgroupPath'],
  slowAfterMs: 100,
  reasons: {
    FailedCreatePodContainer: {
      event: 'FailedCreatePodContainer',
      severity: 'Warning',
      meaning: "the kernel refused to make the pod's cgroup",
      mend: 'check that the cgroup file systems of the node are mounted and may be written',
    },
  },
  async run(_pod, { pod, observed }, signal) {
    try {
      const cgroupPath = await port.ensure(pod, signal);
      await port.resize(pod, observed, cgroupPath, signal);
      return { kind: 'done', writes: { cgroupPath } };
    } catch (error) {
      return waitAfter(error, 'FailedCreatePodContainer', (detail) => `unable to ensure pod container exists: ${detail}`);
    }
  },
  async find(pod, signal) {
    const cgroupPath = await port.find(pod.uid, signal);
    return cgroupPath === undefined ? {} : { cgroupPath };
  },
  async undo(pod, _found, _stop, signal) {
    await port.remove(pod.uid, signal); // also what is there in part: the search sees a cgroup in any hierarchy
  },
});
