import { priorityClass as priorityClassKind } from '#api/kinds/scheduling/v1/priority-class.ts';
import { forbidden } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { PriorityClass } from '#api/types/scheduling-v1.ts';
import type { ObjectReader } from '../request/route.ts';
import { type AdmissionPlugin, type AdmissionRequest, newPodOf, shownName } from './admission.ts';

/** A pod's priority comes from its class; only one class can be everybody's. */
export function createPriorityAdmission(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'Priority',
    mutate: (request) => {
      const pod = newPodOf(request);
      return pod === undefined ? request.object : withPriority(request, pod, objects);
    },
    validate: (request) => checkDefaultClass(request, objects),
  };
}

function withPriority(request: AdmissionRequest, pod: Pod, objects: ObjectReader): Pod {
  const refuse = (detail: string) => forbidden(request.kind, shownName(request), detail);
  const wanted = pod.spec?.priorityClassName ?? '';
  const found = wanted === '' ? defaultClass(objects) : objects.get(priorityClassKind, '', wanted);
  if (wanted !== '' && found === undefined) throw refuse(`no PriorityClass with name ${wanted} was found`);
  const priority = found?.value ?? 0;
  const preemptionPolicy = found?.preemptionPolicy ?? 'PreemptLowerPriority';
  const spec = pod.spec ?? { containers: [] };
  if (spec.priority !== undefined && spec.priority !== priority) {
    throw refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from ` +
        'the given PriorityClass name',
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ` +
        `${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  const named = found === undefined ? {} : { priorityClassName: found.metadata.name };
  return { ...pod, spec: { ...spec, ...named, priority, preemptionPolicy } };
}

/** Of several the one with the lowest value, as upstream. */
function defaultClass(objects: ObjectReader): PriorityClass | undefined {
  return objects
    .list(priorityClassKind)
    .filter((candidate) => candidate.globalDefault === true)
    .reduce<PriorityClass | undefined>(
      (lowest, candidate) => (lowest === undefined || (candidate.value ?? 0) < (lowest.value ?? 0) ? candidate : lowest),
      undefined,
    );
}

function checkDefaultClass(request: AdmissionRequest, objects: ObjectReader): void {
  const { kind, object, operation } = request;
  if (kind.kind !== priorityClassKind.kind || kind.group !== priorityClassKind.group || operation === 'DELETE') return;
  if ((object as PriorityClass).globalDefault !== true) return; // the kind's schema has read it
  const other = defaultClass(objects);
  if (other === undefined || other.metadata.name === object.metadata.name) return;
  const detail = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  throw forbidden(kind, shownName(request), detail);
}
