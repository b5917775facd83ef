import type { Node } from '#api/types/core-v1.ts';
import type { AdmissionPlugin } from './admission.ts';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A new node gets pods only when the node lifecycle controller has seen it ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate: ({ kind, operation, subresource, object }) => {
    if (operation !== 'CREATE' || subresource !== '' || kind.group !== '' || kind.kind !== 'Node') return object;
    const node = object as Node; // the schema has read it
    const taints = node.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return object;
    return { ...node, spec: { ...node.spec, taints: [...taints, notReady] } };
  },
};
