import { column, nameColumn } from '#api/column.ts';
import { age } from '#api/human-duration.ts';
import type { Event } from '#api/types/core-v1.ts';

/** How `kubectl get events` shows an event of the core group. */
export const eventColumns = [
  column<Event>('Last Seen', { description: 'When the event was last seen.', cell: (event, nowMs) => age(lastSeen(event), nowMs) }),
  column<Event>('Type', { description: 'Normal or Warning.', cell: (event) => event.type ?? '' }),
  column<Event>('Reason', { description: 'Why the event was made, in one word.', cell: (event) => event.reason ?? '' }),
  column<Event>('Object', { description: 'What the event is about.', cell: objectText }),
  column<Event>('Subobject', { isWide: true, description: 'The part of it.', cell: (event) => event.involvedObject.fieldPath ?? '' }),
  column<Event>('Source', { isWide: true, description: 'Who made the event.', cell: sourceText }),
  column<Event>('Message', { description: 'What happened.', cell: (event) => (event.message ?? '').trim() }),
  column<Event>('First Seen', {
    isWide: true,
    description: 'When the event was first seen.',
    cell: (event, nowMs) => age(firstSeen(event), nowMs),
  }),
  column<Event>('Count', {
    isWide: true,
    type: 'integer',
    description: 'How often it was seen.',
    cell: (event) => event.series?.count ?? event.count ?? 1,
  }),
  { ...nameColumn, priority: 1 },
] as const;

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
