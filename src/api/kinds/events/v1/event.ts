import { eventColumns } from '#api/events/columns.ts';
import { eventFromCore, eventToCore } from '#api/events/conversion.ts';
import { validateEvent, validateEventUpdate, validateNewEvent } from '#api/events/validation.ts';
import { defineKind } from '#api/kind.ts';
import type { Event as CoreEvent, ObjectReference } from '#api/types/core-v1.ts';
import type { Event } from '#api/types/events-v1.ts';

const about = (read: (regarding: ObjectReference) => string | undefined) => (event: Event) => read(event.regarding ?? {}) ?? '';

/** The newer form of the core group's events, with stricter rules; both are views of the same objects. */
export const event = defineKind<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  message: 'events.v1.Event',
  shortNames: ['ev'],
  createsOnUpdate: true,
  defaultPropagation: 'None',
  storedAs: {
    kind: () => ({ group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' }),
    fromStored: (stored) => eventFromCore(stored as CoreEvent), // the kind says what it is
    toStored: eventToCore,
  },
  selectableFields: {
    'regarding.kind': about(({ kind }) => kind),
    'regarding.namespace': about(({ namespace }) => namespace),
    'regarding.name': about(({ name }) => name),
    'regarding.uid': about(({ uid }) => uid),
    'regarding.apiVersion': about(({ apiVersion }) => apiVersion),
    'regarding.resourceVersion': about(({ resourceVersion }) => resourceVersion),
    'regarding.fieldPath': about(({ fieldPath }) => fieldPath),
    reason: (event) => event.reason ?? '',
    reportingController: (event) => event.reportingController ?? '',
    type: (event) => event.type ?? '',
  },
  columns: eventColumns.map((column) => ({ ...column, cell: (event: Event, nowMs: number) => column.cell(eventToCore(event), nowMs) })),
  validate: (event) => validateEvent(eventToCore(event), 'reportingController'),
  validateCreate: (event) => validateNewEvent(eventToCore(event)),
  validateUpdate: (next, previous) => validateEventUpdate(eventToCore(next), eventToCore(previous)),
});
