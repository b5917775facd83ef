import type { VolumesPort } from '../../ports/volumes.ts';
import type { DirectoryFact, PodFacts, VolumeFact } from '../facts.ts';
import { atEnd } from '../failure.ts';
import type { Step } from '../step.ts';

/** Every volume that a container of the pod mounts. */
export const volumes = (port: VolumesPort): Step<Pick<PodFacts, 'pod'> & DirectoryFact, VolumeFact, 'FailedMount' | 'FailedAttachVolume'> => ({
  name: 'volumes',
  title: 'Mount the volumes',
  reads: ['pod', 'podDir'],
  writes: ['mountedVolumes'],
  slowAfterMs: 2000,
  reasons: {
    FailedMount: {
      event: 'FailedMount',
      severity: 'Warning',
      meaning: 'a volume of the pod cannot be mounted, most often because the object that it is made from is missing',
      mend: 'create the ConfigMap, Secret or claim that the message names; the pod starts by itself then',
    },
    FailedAttachVolume: {
      event: 'FailedAttachVolume',
      severity: 'Warning',
      meaning: 'a volume is not attached to this node yet',
      mend: 'check that its storage driver runs, and that no other node holds the volume',
    },
  },
  async run(_pod, { pod }, signal) {
    const outcome = await port.ensure(pod, signal);
    return outcome.kind === 'mounted' ? { kind: 'done', writes: { mountedVolumes: outcome.volumes } } : outcome;
  },
  async undo(pod, _found, stop, signal) {
    await atEnd(pod, stop, 'remove the volumes dir', port.release(pod.uid, signal));
  },
});
