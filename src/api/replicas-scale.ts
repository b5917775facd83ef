import type { ScaleView } from './kind.ts';
import { labelSelectorText } from './label-selector-print.ts';
import type { KubeObject } from './object.ts';
import type { LabelSelector } from './types/meta-v1.ts';

interface Replicated extends KubeObject {
  readonly spec?: { readonly replicas?: number | undefined; readonly selector?: LabelSelector | undefined } | undefined;
  readonly status?: { readonly replicas?: number | undefined } | undefined;
}

/** `/scale` of a kind with `spec.replicas`, `spec.selector` and `status.replicas`. */
export function replicasScale<T extends Replicated>(): ScaleView<T> {
  return {
    read: ({ spec, status }) => ({
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: labelSelectorText(spec?.selector),
    }),
    write: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
  };
}
