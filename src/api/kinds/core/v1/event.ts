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
});
