import { isTolerated } from '#api/pod/taints.ts';
import { normalized, type Score } from './score.ts';

/** Prefers nodes with fewer `PreferNoSchedule` taints that the pod does not tolerate. */
export const preferTolerated: Score = {
  name: 'TaintToleration',
  weight: 3,
  rate(pod, rooms) {
    const soft = (pod.pod.spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule');
    const counts = rooms.map(
      ({ node }) => (node.spec?.taints ?? []).filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, soft)).length,
    );
    return normalized(counts).map((value) => 100 - value);
  },
};
