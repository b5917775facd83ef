import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '#api/types/core-v1.ts';
import type { ContainerRecord } from '../runtime/pod-runtime-state.ts';

/** What parts that hand out the node's resources have to say in a pod's status. Asked each time the status is computed: must be quick. */
export interface StatusExtras {
  resourcesOf(
    pod: Pod,
    container: Container,
    record: ContainerRecord,
  ): Pick<ContainerStatus, 'resources' | 'allocatedResources' | 'allocatedResourcesStatus'>;
  /** Of the pod as a whole. @param previous the status told before */
  podResourcesOf(pod: Pod, previous: PodStatus | undefined): Pick<PodStatus, 'resources' | 'allocatedResources'>;
  /** `PodResizePending` and `PodResizeInProgress`, as long as they are true: one that is no more in the list is taken back. */
  conditionsOf(pod: Pod): readonly Pick<PodCondition, 'type' | 'status' | 'reason' | 'message' | 'observedGeneration'>[];
}
