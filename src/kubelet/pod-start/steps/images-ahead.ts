import type { ImagesPort } from '../../ports/images.ts';
import { newestOf } from '../../runtime/pod-runtime-state.ts';
import type { PodFacts } from '../facts.ts';
import type { Step } from '../step.ts';

/** Starts the pulls that will be needed and is done at once: whoever needs an image joins its pull later. */
export const imagesAhead = (images: ImagesPort): Step<Pick<PodFacts, 'pod' | 'observed'>, object, never> => ({
  name: 'images-ahead',
  title: 'Start the pulls',
  reads: ['pod', 'observed'],
  writes: [],
  slowAfterMs: 100,
  reasons: {},
  async run(_pod, { pod, observed }) {
    const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    images.ahead(
      pod,
      all.filter(({ name }) => newestOf(observed, name) === undefined),
    );
    return { kind: 'done', writes: {} };
  },
  async undo(pod) {
    images.forget(pod.uid);
  },
});
