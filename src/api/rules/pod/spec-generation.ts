import { semanticEqual } from '#api/deep-equal.ts';
import type { Pod, PodSpec } from '#api/types/core-v1.ts';

/** The previous pod with another spec, which counts a generation when it differs; the write stays one of the state that `next` names. */
export function withChangedSpec(next: Pod, previous: Pod, spec: PodSpec): Pod {
  const { resourceVersion, managedFields } = next.metadata;
  const { generation = 0 } = previous.metadata;
  const isChanged = !semanticEqual(spec, previous.spec);
  const metadata = { ...previous.metadata, resourceVersion, managedFields, ...(isChanged ? { generation: generation + 1 } : {}) };
  return { ...previous, metadata, spec };
}
