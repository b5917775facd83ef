import { test } from 'node:test';
import { event as coreEvent } from '#api/kinds/core/v1/event.ts';
import { event as newerEvent } from '#api/kinds/events/v1/event.ts';
import { inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { type ApiWalk, walkApi } from '../support/api-walk.ts';

const walks: readonly ApiWalk[] = [
  {
    kind: coreEvent,
    manifest: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Walked', type: 'Warning' },
    fieldSelector: 'reason=Walked',
  },
  {
    kind: newerEvent,
    manifest: {
      regarding: { kind: 'Pod', namespace: 'default', name: 'q' },
      eventTime: '2030-01-01T00:00:00.000000Z',
      reportingController: 'example.com/walker',
      reportingInstance: 'walker-1',
      action: 'Walking',
      reason: 'Walked',
      type: 'Normal',
    },
    fieldSelector: 'reportingController=example.com/walker',
  },
];

for (const walk of walks) {
  test(`the API walk passes for ${walk.kind.plural} of ${walk.kind.group || 'the core group'}`, async () => {
    await using api = await inProcessServer();
    await walkApi(api, walk);
  });
}
