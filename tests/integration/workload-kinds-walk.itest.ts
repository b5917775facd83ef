import { test } from 'node:test';
import { controllerRevision } from '#api/kinds/apps/v1/controller-revision.ts';
import { daemonSet } from '#api/kinds/apps/v1/daemon-set.ts';
import { deployment } from '#api/kinds/apps/v1/deployment.ts';
import { replicaSet } from '#api/kinds/apps/v1/replica-set.ts';
import { statefulSet } from '#api/kinds/apps/v1/stateful-set.ts';
import { horizontalPodAutoscaler as olderAutoscaler } from '#api/kinds/autoscaling/v1/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscaler } from '#api/kinds/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { cronJob } from '#api/kinds/batch/v1/cron-job.ts';
import { job } from '#api/kinds/batch/v1/job.ts';
import { podTemplate } from '#api/kinds/core/v1/pod-template.ts';
import { replicationController } from '#api/kinds/core/v1/replication-controller.ts';
import { podDisruptionBudget } from '#api/kinds/policy/v1/pod-disruption-budget.ts';
import {
  aBudget,
  aCronJob,
  aDaemonSet,
  aDeployment,
  aJob,
  anAutoscaler,
  aReplicaSet,
  aReplicationController,
  aStatefulSet,
  template,
} from '#api/testing/workloads.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { type ApiWalk, walkApi } from '../support/api-walk.ts';

const condition = { type: 'Walked', status: 'True', reason: 'Test', message: 'unknown types stay', lastTransitionTime: '2030-01-01T00:00:00Z' };
const counts = { replicas: 3, readyReplicas: 2, conditions: [condition] };

/** What a manifest says beyond what names it. */
const unnamed = ({ metadata: _, ...manifest }: { readonly metadata: object }): object => manifest;

const walks: readonly ApiWalk[] = [
  { kind: deployment, manifest: unnamed(aDeployment()), status: counts },
  { kind: replicaSet, manifest: unnamed(aReplicaSet()), status: counts },
  { kind: statefulSet, manifest: unnamed(aStatefulSet()), status: counts },
  {
    kind: daemonSet,
    manifest: unnamed(aDaemonSet()),
    status: { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 2, numberReady: 1, conditions: [condition] },
  },
  { kind: controllerRevision, manifest: { data: { spec: { template: {} } }, revision: 1 } },
  {
    kind: job,
    manifest: unnamed(aJob()),
    fieldSelector: 'status.successful=0',
    status: { active: 1, ready: 0, startTime: '2030-01-01T00:00:00Z', conditions: [condition] },
  },
  { kind: cronJob, manifest: unnamed(aCronJob()), status: { lastScheduleTime: '2030-01-01T00:00:00Z' } },
  { kind: horizontalPodAutoscaler, manifest: unnamed(anAutoscaler()), status: { desiredReplicas: 2, currentReplicas: 1, conditions: [condition] } },
  {
    kind: olderAutoscaler,
    manifest: { ...unnamed(anAutoscaler()), apiVersion: 'autoscaling/v1' },
    status: { desiredReplicas: 2, currentReplicas: 1 },
  },
  {
    kind: podDisruptionBudget,
    manifest: unnamed(aBudget()),
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, conditions: [condition] },
  },
  { kind: replicationController, manifest: unnamed(aReplicationController()), fieldSelector: 'status.replicas=0', status: counts },
  { kind: podTemplate, manifest: { template: template() } },
];

for (const walk of walks) {
  test(`${walk.kind.plural} of ${walk.kind.group || 'core'}/${walk.kind.version} are walked through`, { timeout: 20_000 }, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
