import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { event as coreEvent } from '#api/kinds/core/v1/event.ts';
import { event as newerEvent } from '#api/kinds/events/v1/event.ts';
import { anEvent } from '#api/testing/objects.ts';
import type { Event } from '#api/types/events-v1.ts';
import { eventFromCore, eventToCore } from './conversion.ts';

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
const newer: Event = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata,
  eventTime: '2030-01-01T00:00:00.000000Z',
  reportingController: 'tester',
  reportingInstance: 'tester-1',
  action: 'Testing',
  reason: 'Tested',
  type: 'Normal',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
};
const ofNew = (changes: Partial<Event>) => newerEvent.validate({ ...newer, ...changes }).map(problemText);

test('an event of the newer group says who did what, in few words, and nothing in the old way', () => {
  assert.deepEqual(ofNew({}), []);
  assert.deepEqual(ofNew({ reportingController: '', reportingInstance: '', action: '', reason: '', type: 'Bad' }), [
    'reportingController: Required value',
    'reportingController: Invalid value: "": name part must be non-empty',
    `reportingController: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
    'type: Invalid value: "": has invalid value: Bad',
  ]);
  const long = 'x'.repeat(129);
  assert.deepEqual(ofNew({ reportingInstance: long, action: long, reason: long, note: 'x'.repeat(1025) }), [
    'reportingInstance: Invalid value: "": can have at most 128 characters',
    'action: Invalid value: "": can have at most 128 characters',
    'reason: Invalid value: "": can have at most 128 characters',
    'message: Invalid value: "": can have at most 1024 characters',
  ]);
  const old = { deprecatedCount: 1, deprecatedFirstTimestamp: newer.eventTime, deprecatedLastTimestamp: newer.eventTime };
  assert.deepEqual(ofNew({ ...old, deprecatedSource: { component: 'x' } }), [
    'firstTimestamp: Invalid value: "": needs to be unset',
    'lastTimestamp: Invalid value: "": needs to be unset',
    'count: Invalid value: "": needs to be unset',
    'source: Invalid value: "": needs to be unset',
  ]);
  assert.deepEqual(ofNew({ series: { count: 1, lastObservedTime: newer.eventTime } }), ['series.count: Invalid value: "": should be at least 2']);
});

test('through the newer group nothing but the series of an event changes', () => {
  const update = (changes: Partial<Event>) => newerEvent.validateUpdate({ ...newer, ...changes }, newer).map(problemText);
  assert.deepEqual(update({ series: { count: 2, lastObservedTime: newer.eventTime } }), []);
  assert.deepEqual(update({ note: 'else', reportingController: 'other' }), [
    'message: Invalid value: "else": field is immutable',
    'reportingController: Invalid value: "other": field is immutable',
  ]);
});

test('an event of the core group is about an object of its namespace, or of none (13.44)', () => {
  const ofOld = (namespace: string, about: string | undefined) =>
    coreEvent.validate(anEvent({ metadata: { namespace }, involvedObject: { namespace: about } })).map(problemText);
  assert.deepEqual(ofOld('default', undefined), []);
  assert.deepEqual(ofOld('other', 'other'), []);
  assert.deepEqual(ofOld('other', 'x'), ['involvedObject.namespace: Invalid value: "x": does not match event.namespace']);
  assert.deepEqual(ofOld('kube-system', undefined), ['involvedObject.namespace: Invalid value: "": does not match event.namespace']);
});

test('an event is the same after a way through the other version', () => {
  assert.deepEqual(eventToCore(eventFromCore(anEvent())), anEvent());
  assert.deepEqual(eventFromCore(eventToCore(newer)), newer);
});
