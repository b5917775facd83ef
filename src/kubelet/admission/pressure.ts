import { qosClass } from '#api/pod/qos.ts';
import { isTolerated } from '#api/pod/taints.ts';
import { isCritical } from '../resources/critical.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const MEMORY_PRESSURE_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/** A node in shortage takes critical pods; when only memory is short also those that asked for memory, or that say they do not mind. */
export function pressurePredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (node.pressures.length === 0 || isCritical(pod)) return undefined;
  if (node.pressures.every((type) => type === 'MemoryPressure')) {
    if (qosClass(pod) !== 'BestEffort' || isTolerated(MEMORY_PRESSURE_TAINT, pod.spec?.tolerations)) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${node.pressures.join(' ')}]. ` };
}
