import { matchesNodeSelectorTerm } from '#api/pod/node-selector.ts';
import { normalized, type Score } from './score.ts';

/** Prefers nodes that match more of the pod's preferred node affinity. */
export const preferredAffinity: Score = {
  name: 'NodeAffinity',
  weight: 2,
  rate(pod, rooms) {
    const terms = pod.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    return normalized(
      rooms.map(({ node }) => terms.reduce((sum, term) => sum + (matchesNodeSelectorTerm(term.preference, node) ? term.weight : 0), 0)),
    );
  },
};
