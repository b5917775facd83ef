import type { Container, Pod, ResourceStatus } from '#api/types/core-v1.ts';
import type { StatusExtras } from '../../ports/status-extras.ts';

/** The same, and how the devices of containers are. */
export function withDeviceHealth(
  extras: StatusExtras,
  devices: { statusOf(pod: Pod, container: Container): readonly ResourceStatus[] },
): StatusExtras {
  return {
    resourcesOf(pod, container, record) {
      const states = devices.statusOf(pod, container);
      return { ...extras.resourcesOf(pod, container, record), ...(states.length === 0 ? {} : { allocatedResourcesStatus: states }) };
    },
    podResourcesOf: (...of) => extras.podResourcesOf(...of),
    conditionsOf: (pod) => extras.conditionsOf(pod),
  };
}
