import { deepEqual, semanticEqual } from '#api/deep-equal.ts';
import { runtimeClass as runtimeClassKind } from '#api/kinds/node/v1/runtime-class.ts';
import { mergeTolerations } from '#api/pod/tolerations.ts';
import { forbidden } from '#api/status.ts';
import type { Pod, PodSpec } from '#api/types/core-v1.ts';
import type { RuntimeClass } from '#api/types/node-v1.ts';
import type { ObjectReader } from '../request/route.ts';
import { type AdmissionPlugin, type AdmissionRequest, newPodOf, shownName } from './admission.ts';

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** A pod carries what its runtime costs, and goes to nodes that have the runtime. */
export function createRuntimeClassAdmission(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    mutate: (request) => {
      const pod = newPodOf(request);
      const found = pod === undefined ? undefined : runtimeClassOf(request, pod, objects);
      return pod === undefined || found === undefined ? request.object : withRuntime(request, pod, found);
    },
    validate: (request) => {
      const pod = newPodOf(request);
      if (pod !== undefined) checkOverhead(request, pod, runtimeClassOf(request, pod, objects));
    },
  };
}

function runtimeClassOf(request: AdmissionRequest, pod: Pod, objects: ObjectReader): RuntimeClass | undefined {
  const name = pod.spec?.runtimeClassName;
  if (name === undefined) return undefined;
  const found = objects.get(runtimeClassKind, '', name);
  if (found === undefined) throw forbidden(request.kind, shownName(request), `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

function withRuntime(request: AdmissionRequest, pod: Pod, { overhead, scheduling }: RuntimeClass): Pod {
  let spec: PodSpec = pod.spec ?? { containers: [] };
  if (overhead !== undefined) {
    if (spec.overhead !== undefined && !semanticEqual(spec.overhead, overhead.podFixed)) {
      throw forbidden(request.kind, shownName(request), otherOverhead);
    }
    spec = { ...spec, overhead: overhead.podFixed };
  }
  if (scheduling !== undefined) {
    const nodeSelector = mergedSelector(request, spec.nodeSelector ?? {}, scheduling.nodeSelector ?? {});
    if (Object.keys(nodeSelector).length > 0) spec = { ...spec, nodeSelector };
    const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
    if (tolerations.length > 0) spec = { ...spec, tolerations };
  }
  return deepEqual(spec, pod.spec) ? pod : { ...pod, spec };
}

function mergedSelector(
  request: AdmissionRequest,
  own: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(added)) {
    const other = own[key];
    if (other === undefined || other === value) continue;
    const detail = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${other}`;
    throw forbidden(request.kind, shownName(request), detail);
  }
  return { ...added, ...own };
}

function checkOverhead(request: AdmissionRequest, pod: Pod, found: RuntimeClass | undefined): void {
  const refuse = (detail: string) => forbidden(request.kind, shownName(request), detail);
  const own = pod.spec?.overhead;
  if (found?.overhead === undefined) {
    if (own !== undefined) throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  } else if (own === undefined || !semanticEqual(own, found.overhead.podFixed)) throw refuse(otherOverhead);
}
