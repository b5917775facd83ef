import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { ContainerStatus, PodStatus } from '#api/types/core-v1.ts';
import { type PrintedStatus, printedStatus } from './printed-status.ts';

const nowMs = Date.parse('2026-01-02T03:10:00Z');
const condition = (type: string, status: string, reason?: string) => ({ type, status, ...(reason === undefined ? {} : { reason }) });
const container = (name: string, status: Partial<ContainerStatus>): ContainerStatus => ({
  name,
  ready: false,
  restartCount: 0,
  image: 'i',
  imageID: '',
  ...status,
});
const running = { state: { running: { startedAt: '2026-01-02T03:00:00Z' } }, ready: true };
const ended = (exitCode: number, reason?: string) => ({ state: { terminated: { exitCode, ...(reason === undefined ? {} : { reason }) } } });
const waiting = (reason: string) => ({ state: { waiting: { reason } } });

const oneInit = { containers: [aContainer()], initContainers: [aContainer({ name: 'i' })] };
const sidecar = { containers: [aContainer()], initContainers: [aContainer({ name: 's', restartPolicy: 'Always' })] };

const table: readonly (readonly [name: string, pod: Parameters<typeof aPod>[0], status: Partial<PodStatus>, expected: PrintedStatus])[] = [
  ['that waits for a node', {}, { phase: 'Pending' }, { ready: '0/1', status: 'Pending', restarts: '0' }],
  [
    'held by a gate',
    {},
    { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'SchedulingGated')] },
    { ready: '0/1', status: 'SchedulingGated', restarts: '0' },
  ],
  [
    'whose container is made',
    {},
    { phase: 'Pending', containerStatuses: [container('main', waiting('ContainerCreating'))] },
    { ready: '0/1', status: 'ContainerCreating', restarts: '0' },
  ],
  ['that runs', {}, { phase: 'Running', containerStatuses: [container('main', running)] }, { ready: '1/1', status: 'Running', restarts: '0' }],
  [
    'that crashes',
    {},
    {
      phase: 'Running',
      containerStatuses: [
        container('main', {
          ...waiting('CrashLoopBackOff'),
          restartCount: 3,
          lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-02T03:09:50Z' } },
        }),
      ],
    },
    { ready: '0/1', status: 'CrashLoopBackOff', restarts: '3 (10s ago)' },
  ],
  [
    'that is done',
    {},
    { phase: 'Succeeded', containerStatuses: [container('main', ended(0, 'Completed'))] },
    { ready: '0/1', status: 'Completed', restarts: '0' },
  ],
  [
    'that failed without a reason',
    {},
    { phase: 'Failed', containerStatuses: [container('main', ended(3))] },
    { ready: '0/1', status: 'ExitCode:3', restarts: '0' },
  ],
  ['that was rejected', {}, { phase: 'Failed', reason: 'OutOfcpu' }, { ready: '0/1', status: 'OutOfcpu', restarts: '0' }],
  [
    'with one container done and one ready',
    { spec: { containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })] } },
    {
      phase: 'Running',
      containerStatuses: [container('a', ended(0, 'Completed')), container('b', running)],
      conditions: [condition('Ready', 'True')],
    },
    { ready: '1/2', status: 'Running', restarts: '0' },
  ],
  [
    'with one container done and one not ready for others',
    { spec: { containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })] } },
    { phase: 'Running', containerStatuses: [container('a', ended(0, 'Completed')), container('b', running)] },
    { ready: '1/2', status: 'NotReady', restarts: '0' },
  ],
  [
    'in its first init container',
    { spec: oneInit },
    { phase: 'Pending', initContainerStatuses: [container('i', running)], containerStatuses: [container('main', waiting('PodInitializing'))] },
    { ready: '0/1', status: 'Init:0/1', restarts: '0' },
  ],
  [
    'whose init container fails',
    { spec: oneInit },
    { phase: 'Pending', initContainerStatuses: [container('i', { ...ended(1, 'Error'), restartCount: 2 })] },
    { ready: '0/1', status: 'Init:Error', restarts: '2' },
  ],
  [
    'whose init container waits',
    { spec: oneInit },
    { phase: 'Pending', initContainerStatuses: [container('i', waiting('ImagePullBackOff'))] },
    { ready: '0/1', status: 'Init:ImagePullBackOff', restarts: '0' },
  ],
  [
    'with a sidecar',
    { spec: sidecar },
    {
      phase: 'Running',
      initContainerStatuses: [container('s', { ...running, started: true, restartCount: 1 })],
      containerStatuses: [container('main', running)],
    },
    { ready: '2/2', status: 'Running', restarts: '1' },
  ],
  [
    'that is deleted',
    { metadata: { deletionTimestamp: '2026-01-02T03:10:30Z' } },
    { phase: 'Running', containerStatuses: [container('main', running)] },
    { ready: '1/1', status: 'Terminating', restarts: '0' },
  ],
  [
    'whose node is lost',
    { metadata: { deletionTimestamp: '2026-01-02T03:10:30Z' } },
    { phase: 'Running', reason: 'NodeLost' },
    { ready: '0/1', status: 'Unknown', restarts: '0' },
  ],
];

for (const [name, pod, status, expected] of table) {
  test(`a pod ${name} shows ${expected.status}`, () => assert.deepEqual(printedStatus(aPod({ ...pod, status }), nowMs), expected));
}
