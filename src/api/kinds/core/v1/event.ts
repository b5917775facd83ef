import { column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { type FieldProblem, invalid } from '#api/field-problem.ts';
import { age } from '#api/human-duration.ts';
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
  columns: [
    column('Last Seen', { description: 'When the event was last seen.', cell: (event, nowMs) => age(lastSeen(event), nowMs) }),
    column('Type', { description: 'Normal or Warning.', cell: (event) => event.type ?? '' }),
    column('Reason', { description: 'Why the event was made, in one word.', cell: (event) => event.reason ?? '' }),
    column('Object', { description: 'What the event is about.', cell: objectText }),
    column('Subobject', { isWide: true, description: 'The part of it.', cell: (event) => event.involvedObject.fieldPath ?? '' }),
    column('Source', { isWide: true, description: 'Who made the event.', cell: sourceText }),
    column('Message', { description: 'What happened.', cell: (event) => (event.message ?? '').trim() }),
    column('First Seen', { isWide: true, description: 'When the event was first seen.', cell: (event, nowMs) => age(firstSeen(event), nowMs) }),
    column('Count', {
      isWide: true,
      type: 'integer',
      description: 'How often it was seen.',
      cell: (event) => event.series?.count ?? event.count ?? 1,
    }),
    { ...nameColumn, priority: 1 },
  ],
  setDefaults: (event) => fill<Event>(event, { involvedObject: {} }),
  validateCreate: validateNamespace,
});

function validateNamespace(event: Event): readonly FieldProblem[] {
  const field = 'involvedObject.namespace';
  const about = event.involvedObject.namespace ?? '';
  const own = event.metadata.namespace;
  if (about !== '') return about === own ? [] : [invalid(field, about, 'does not match event.namespace')];
  // Events about objects without a namespace are kept in one of two.
  const isAllowed = own === 'default' || (own === 'kube-system' && event.eventTime !== undefined);
  return isAllowed ? [] : [invalid(field, about, 'does not match event.namespace')];
}

function firstSeen(event: Event): string | undefined {
  return event.firstTimestamp ?? event.eventTime;
}

function lastSeen(event: Event): string | undefined {
  return event.series?.lastObservedTime ?? event.lastTimestamp ?? firstSeen(event);
}

function objectText({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase();
  return (involvedObject.name ?? '') === '' ? kind : `${kind}/${involvedObject.name}`;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || '';
  const host = source?.host || reportingInstance || '';
  return host === '' ? component : `${component}, ${host}`;
}
