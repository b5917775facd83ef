import type { Event as CoreEvent } from '#api/types/core-v1.ts';
import type { Event } from '#api/types/events-v1.ts';

/** An event of events.k8s.io/v1 says the same as one of the core group, in part by other names. */
export function eventFromCore(event: CoreEvent): Event {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent, eventTime, series, ...same } = event;
  return {
    ...same,
    apiVersion: 'events.k8s.io/v1',
    ...present({
      eventTime,
      series,
      reportingController: reportingComponent,
      regarding: involvedObject,
      note: message,
      deprecatedSource: source,
      deprecatedFirstTimestamp: firstTimestamp,
      deprecatedLastTimestamp: lastTimestamp,
      deprecatedCount: count,
    }),
  } as Event; // old ones may lack what is required of new ones
}

export function eventToCore(event: Event): CoreEvent {
  const { regarding, note, deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, reportingController, ...same } =
    event;
  return {
    ...same,
    apiVersion: 'v1',
    involvedObject: regarding ?? {},
    ...present({
      reportingComponent: reportingController,
      message: note,
      source: deprecatedSource,
      firstTimestamp: deprecatedFirstTimestamp,
      lastTimestamp: deprecatedLastTimestamp,
      count: deprecatedCount,
    }),
  };
}

function present<T extends object>(parts: T): Partial<T> {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as Partial<T>; // a part of its entries
}
