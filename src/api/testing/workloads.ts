/** Bodies of workloads as a client writes them: only what must be said. */

export const template = (more: object = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'web:1' }], ...more },
});

export const aDeployment = (spec: object = {}) => body('apps/v1', 'Deployment', selected(spec));
export const aReplicaSet = (spec: object = {}) => body('apps/v1', 'ReplicaSet', selected(spec));
export const aDaemonSet = (spec: object = {}) => body('apps/v1', 'DaemonSet', selected(spec));
export const aStatefulSet = (spec: object = {}) => body('apps/v1', 'StatefulSet', selected(spec));
export const aReplicationController = (spec: object = {}) => body('v1', 'ReplicationController', { template: template(), ...spec });
export const aJob = (spec: object = {}) => body('batch/v1', 'Job', jobSpec(spec));
export const aCronJob = (spec: object = {}) => body('batch/v1', 'CronJob', { schedule: '*/5 * * * *', jobTemplate: { spec: jobSpec() }, ...spec });
export const aBudget = (spec: object = {}) =>
  body('policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector: { matchLabels: { app: 'web' } }, ...spec });
export const anAutoscaler = (spec: object = {}) =>
  body('autoscaling/v2', 'HorizontalPodAutoscaler', {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 5,
    ...spec,
  });

const body = (apiVersion: string, kind: string, spec: object) => ({ apiVersion, kind, metadata: { name: 'web' }, spec });
const selected = (more: object) => ({ selector: { matchLabels: { app: 'web' } }, template: template(), ...more });
const jobSpec = (more: object = {}) => ({ template: { spec: { ...template().spec, restartPolicy: 'Never' } }, ...more });
