import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode, aPod } from '#api/testing/objects.ts';
import type { Event } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { createClient } from './api-client.ts';
import { createEventRecorder, referenceTo } from './event-recorder.ts';
import { MemoryApi } from './testing/memory-api.ts';
import { settled } from './testing/settled.ts';

function recording(t: { after(action: () => void): void }, pace?: { readonly perSecond: number; readonly burst: number }, busy?: Cell<boolean>) {
  const api = new MemoryApi();
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const recorder = createEventRecorder(createClient(api), { component: 'kubelet', host: 'node-1', pace, busy, clock, logger: silentLogger });
  const stop = new AbortController();
  const ended = recorder.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
  });
  const stored = () => api.objects<Event>('events').map((event) => `${event.count} ${event.type} ${event.reason} ${event.message}`);
  return { api, clock, recorder, stored };
}

const started = { type: 'Normal', reason: 'Started', message: 'Started container main' } as const;

test('an event says what happened to what, when, and who says so', async (t) => {
  const { api, recorder } = recording(t);
  recorder.emit(referenceTo(aPod(), 'spec.containers{main}'), started);
  await settled();
  const [event] = api.objects<Event>('events');
  const { uid, resourceVersion, creationTimestamp, ...metadata } = event?.metadata ?? { uid: '', resourceVersion: '', creationTimestamp: '' };
  assert.deepEqual([uid, resourceVersion, creationTimestamp].includes(''), false);
  assert.deepEqual(
    { ...event, metadata },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: 'web.1a46e83335d50000' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'default',
        name: 'web',
        uid: 'uid-of-web',
        resourceVersion: '1',
        fieldPath: 'spec.containers{main}',
      },
      type: 'Normal',
      reason: 'Started',
      message: 'Started container main',
      source: { component: 'kubelet', host: 'node-1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      count: 1,
    },
  );
});

test('a repeat is counted up on the first event, whatever revision the object has by then', async (t) => {
  const { api, clock, recorder, stored } = recording(t);
  recorder.emit(referenceTo(aPod()), started);
  await clock.advance(90_000);
  recorder.emit(referenceTo(aPod({ metadata: { resourceVersion: '2' } })), started);
  recorder.emit(referenceTo(aPod({ metadata: { uid: 'another' } })), started);
  await settled();
  assert.deepEqual(stored(), ['2 Normal Started Started container main', '1 Normal Started Started container main']);
  assert.equal(api.objects<Event>('events')[0]?.lastTimestamp, '2030-01-01T00:01:30Z');
});

test('a repeat of an event that is gone by now is stored anew with its count', async (t) => {
  const { api, recorder, stored } = recording(t);
  recorder.emit(referenceTo(aPod()), started);
  await settled();
  const client = createClient(api);
  const [event] = api.objects<Event>('events');
  await client.delete(
    { group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' },
    event?.metadata ?? { name: '' },
    {},
    new AbortController().signal,
  );
  recorder.emit(referenceTo(aPod()), started);
  await settled();
  assert.deepEqual(stored(), ['2 Normal Started Started container main']);
});

test('events of objects without a namespace are in default', async (t) => {
  const { api, recorder } = recording(t);
  recorder.emit(referenceTo(aNode()), { type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
  await settled();
  assert.equal(api.objects<Event>('events')[0]?.metadata.namespace, 'default');
});

test('one object gets 25 events at once and then one in five minutes; others are not held up', async (t) => {
  const { clock, recorder, stored } = recording(t);
  for (let n = 0; n < 40; n += 1) recorder.emit(referenceTo(aPod()), { ...started, reason: `Reason${n}` });
  recorder.emit(referenceTo(aNode()), started);
  await settled();
  await settled();
  await settled();
  assert.equal(stored().length, 26);
  await clock.advance(300_000);
  recorder.emit(referenceTo(aPod()), started);
  recorder.emit(referenceTo(aPod()), started);
  await settled();
  assert.equal(stored().length, 27);
});

test('what cannot be delivered waits for the server, in order, and a refused event holds up nobody', async (t) => {
  const { api, clock, recorder, stored } = recording(t);
  api.setUnreachable(true);
  recorder.emit(referenceTo(aPod()), { ...started, message: 'refused' });
  recorder.emit(referenceTo(aPod()), { ...started, message: 'first' });
  recorder.emit(referenceTo(aPod()), { ...started, message: 'second' });
  await settled();
  api.setUnreachable(false);
  api.failOnce((request) => request.method === 'POST', 403, 'Forbidden');
  await clock.advance(100);
  await settled();
  assert.deepEqual(stored(), ['1 Normal Started first', '1 Normal Started second']);
});

test('the tenth different message about the same thing, and those after it, are one event', async (t) => {
  const { clock, recorder, stored } = recording(t);
  for (let n = 0; n < 12; n += 1) recorder.emit(referenceTo(aPod()), { ...started, message: `${n}` });
  await settled();
  await settled();
  const plain = Array.from({ length: 9 }, (_, n) => `1 Normal Started ${n}`);
  assert.deepEqual(stored(), [...plain, '3 Normal Started (combined from similar events): 11']);
  recorder.emit(referenceTo(aPod()), { ...started, reason: 'Killing' });
  await settled();
  assert.equal(stored().at(-1), '1 Normal Killing Started container main');
  await clock.advance(600_001);
  recorder.emit(referenceTo(aPod()), { ...started, message: 'much later' });
  await settled();
  assert.equal(stored().at(-1), '1 Normal Started much later');
});

test('no more requests a second than the pace allows, and nothing is lost by it', async (t) => {
  const { clock, recorder, stored } = recording(t, { perSecond: 2, burst: 3 });
  for (let n = 0; n < 9; n += 1) recorder.emit(referenceTo(aPod()), { ...started, reason: `Reason${n}` });
  await settled();
  assert.equal(stored().length, 3);
  await clock.advance(1000);
  await settled();
  assert.equal(stored().length, 5);
  await clock.advance(2000);
  await settled();
  assert.equal(stored().length, 9);
});

test('a server that is away costs no memory: what comes behind a thousand is dropped', async (t) => {
  const { api, clock, recorder, stored } = recording(t);
  api.setUnreachable(true);
  for (let n = 0; n < 1500; n += 1) recorder.emit(referenceTo(aPod({ metadata: { name: `p${n}`, uid: `u${n}` } })), started);
  await settled();
  api.setUnreachable(false);
  await clock.advance(100);
  for (let turn = 0; turn < 200 && stored().length < 1000; turn += 1) await settled();
  assert.ok(stored().length >= 1000 && stored().length <= 1001, `${stored().length}`);
});

test('while pods start, what is normal waits for a rest, but not for ever', async (t) => {
  const busy = new Cell(true);
  const { recorder, stored, clock } = recording(t, undefined, busy);
  recorder.emit(referenceTo(aPod()), started);
  await clock.advance(1000);
  assert.deepEqual(stored(), []);
  busy.set(false);
  await clock.advance(49);
  busy.set(true);
  await clock.advance(0);
  busy.set(false);
  await clock.advance(49);
  assert.deepEqual(stored(), []);
  await clock.advance(1);
  assert.equal(stored().length, 1);
  busy.set(true);
  recorder.emit(referenceTo(aPod()), { ...started, reason: 'Created' });
  await clock.advance(4999);
  assert.equal(stored().length, 1);
  await clock.advance(1);
  assert.equal(stored().length, 2);
});

test('a warning goes out at once, with all that came before it', async (t) => {
  const { recorder, stored } = recording(t, undefined, new Cell(true));
  recorder.emit(referenceTo(aPod()), started);
  recorder.emit(referenceTo(aPod()), { type: 'Warning', reason: 'BackOff', message: 'no' });
  await settled();
  assert.deepEqual(stored(), ['1 Normal Started Started container main', '1 Warning BackOff no']);
});

test('an event has the annotations that it was given', async (t) => {
  const { api, recorder } = recording(t);
  recorder.emit(referenceTo(aPod()), { ...started, annotations: { starved_resource: 'memory' } });
  await settled();
  const [event] = api.objects<Event & { annotations?: unknown }>('events');
  assert.deepEqual([event?.metadata.annotations, event?.annotations], [{ starved_resource: 'memory' }, undefined]);
});
