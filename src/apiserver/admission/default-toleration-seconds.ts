import type { Toleration } from '#api/types/core-v1.ts';
import { type AdmissionPlugin, writtenPodOf } from './admission.ts';

const defaultSeconds = 300;
const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** A pod stays five minutes on a node that is not ready or cannot be reached, unless it says otherwise; so also when an update leaves that out. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate: (request) => {
    const pod = writtenPodOf(request);
    if (pod === undefined) return request.object;
    const given = pod.spec?.tolerations ?? [];
    const missing = taints.filter((key) => !given.some((toleration) => covers(toleration, key)));
    if (missing.length === 0) return pod;
    const added = missing.map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: defaultSeconds }));
    return { ...pod, spec: { ...(pod.spec ?? { containers: [] }), tolerations: [...given, ...added] } };
  },
};

function covers({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}
