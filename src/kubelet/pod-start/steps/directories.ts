import type { PodDirectoriesPort } from '../../ports/pod-directories.ts';
import type { DirectoryFact } from '../facts.ts';
import { atEnd, waitAfter } from '../failure.ts';
import type { Step } from '../step.ts';

/** The pod's folders on the node. They are removed last of all that could hold data, and never while something is mounted in them. */
export const directories = (port: PodDirectoriesPort): Step<object, DirectoryFact, 'FailedMakePodDataDirectories'> => ({
  name: 'directories',
  title: 'Make the folders',
  reads: [],
  writes: ['podDir'],
  slowAfterMs: 100,
  reasons: {
    FailedMakePodDataDirectories: {
      event: 'Failed',
      severity: 'Warning',
      meaning: "the pod's folders cannot be made on the node",
      mend: "check that the kubelet's data folder is writable and that its disk is not full",
    },
  },
  async run(pod, _facts, signal) {
    try {
      return { kind: 'done', writes: { podDir: await port.ensure(pod, signal) } };
    } catch (error) {
      return waitAfter(error, 'FailedMakePodDataDirectories', (detail) => `error making pod data directories: ${detail}`);
    }
  },
  async find(pod, signal) {
    const podDir = await port.find(pod.uid, signal);
    return podDir === undefined ? {} : { podDir };
  },
  async undo(pod, { podDir }, stop, signal) {
    if (podDir !== undefined) await atEnd(pod, stop, 'remove the pod directory', port.remove(pod.uid, signal));
  },
});
