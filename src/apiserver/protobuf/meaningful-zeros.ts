/**
 * Go writes every field that is no pointer, empty or not, and JSON leaves the empty ones out: nothing in the bytes tells a zero that somebody
 * meant from one that nobody set. Only these fields can mean it; of all others a zero is no value. Source: the pointers among the scalar
 * fields of the stable types.
 */
export const meaningfulZeros: ReadonlySet<string> = new Set([
  // metadata and options
  ...['controller', 'blockOwnerDeletion', 'deletionGracePeriodSeconds', 'gracePeriodSeconds', 'orphanDependents', 'remainingItemCount'],
  // pods
  ...['terminationGracePeriodSeconds', 'activeDeadlineSeconds', 'automountServiceAccountToken', 'shareProcessNamespace', 'priority'],
  ...['enableServiceLinks', 'setHostnameAsFQDN', 'hostUsers', 'tolerationSeconds', 'minDomains', 'started', 'runAsUser', 'runAsGroup'],
  ...['runAsNonRoot', 'fsGroup', 'privileged', 'allowPrivilegeEscalation', 'readOnlyRootFilesystem', 'hostProcess'],
  // volumes
  ...['defaultMode', 'mode', 'optional', 'expirationSeconds', 'storageClassName', 'volumeAttributesClassName'],
  // workloads
  ...['replicas', 'maxUnavailable', 'maxSurge', 'revisionHistoryLimit', 'progressDeadlineSeconds', 'parallelism', 'completions', 'backoffLimit'],
  ...['backoffLimitPerIndex', 'maxFailedIndexes', 'ttlSecondsAfterFinished', 'manualSelector', 'suspend', 'startingDeadlineSeconds'],
  ...['collisionCount', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit', 'ready', 'terminating', 'minReplicas', 'partition'],
  // configuration and others
  ...['immutable', 'attachRequired', 'podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount', 'allowVolumeExpansion'],
  ...['leaseDurationSeconds', 'leaseTransitions', 'holderIdentity', 'endPort', 'serving', 'allocateLoadBalancerNodePorts', 'loadBalancerClass'],
]);
