import { fill } from '#api/copy-on-write.ts';
import { eventColumns } from '#api/events/columns.ts';
import { validateEvent } from '#api/events/validation.ts';
import { defineKind } from '#api/kind.ts';
import type { Event } from '#api/types/core-v1.ts';

export const event = defineKind<Event>({
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  message: 'core.v1.Event',
  shortNames: ['ev'],
  createsOnUpdate: true,
  defaultPropagation: 'None',
  selectableFields: {
    'involvedObject.kind': (event) => event.involvedObject.kind ?? '',
    'involvedObject.namespace': (event) => event.involvedObject.namespace ?? '',
    'involvedObject.name': (event) => event.involvedObject.name ?? '',
    'involvedObject.uid': (event) => event.involvedObject.uid ?? '',
    'involvedObject.apiVersion': (event) => event.involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': (event) => event.involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': (event) => event.involvedObject.fieldPath ?? '',
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent ?? '',
    source: (event) => event.source?.component || event.reportingComponent || '',
    type: (event) => event.type ?? '',
  },
  columns: eventColumns,
  setDefaults: (event) => fill<Event>(event, { involvedObject: {} }),
  validate: (event) => validateEvent(event, 'reportingComponent'),
});
