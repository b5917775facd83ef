import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerCreate, ContainerDelete, TaskExit, TaskOOM, TaskStart } from '../generated/containerd-events.ts';
import { ImageDelete, ImageUpdate } from '../generated/containerd-services-images-v1.ts';
import { Envelope } from '../generated/containerd-types.ts';
import { eventOf } from './container-events.ts';

const envelope = (topic: string, value: Uint8Array) => Envelope.fromPartial({ namespace: 'k8s.io', topic, event: { typeUrl: 'x', value } });

test('each topic becomes the event of its container or image', () => {
  const of = (topic: string, value: Uint8Array) => eventOf(envelope(topic, value));
  assert.deepEqual(of('/containers/create', ContainerCreate.encode(ContainerCreate.fromPartial({ id: 'c1' })).finish()), {
    kind: 'created',
    id: 'c1',
  });
  assert.deepEqual(of('/tasks/start', TaskStart.encode({ containerId: 'c1', pid: 7 }).finish()), { kind: 'started', id: 'c1' });
  assert.deepEqual(of('/tasks/oom', TaskOOM.encode({ containerId: 'c1' }).finish()), { kind: 'oom', id: 'c1' });
  assert.deepEqual(of('/containers/delete', ContainerDelete.encode({ id: 'c1' }).finish()), { kind: 'deleted', id: 'c1' });
  assert.deepEqual(of('/images/update', ImageUpdate.encode({ name: 'busybox', labels: { a: 'b' } }).finish()), { kind: 'image', name: 'busybox' });
  assert.deepEqual(of('/images/delete', ImageDelete.encode({ name: 'busybox' }).finish()), { kind: 'image', name: 'busybox' });
});

test('only the end of a container’s first process is its exit: an exec ends with an id of its own', () => {
  const exit = (id: string) => TaskExit.encode({ containerId: 'c1', id, pid: 7, exitStatus: 0, exitedAt: undefined }).finish();
  assert.deepEqual(eventOf(envelope('/tasks/exit', exit('c1'))), { kind: 'exited', id: 'c1' });
  assert.equal(eventOf(envelope('/tasks/exit', exit('exec-1'))), undefined);
});

test('our own probe, and topics that nobody asked for, are no events', () => {
  assert.equal(eventOf(envelope('/kubernode/subscribed', new Uint8Array())), undefined);
  assert.equal(eventOf(envelope('/snapshot/prepare', new Uint8Array())), undefined);
});
