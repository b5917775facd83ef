import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { ImagesPort } from '../../ports/images.ts';
import { aContainer, aSandbox, observedOf } from '../../runtime/testing/observed.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { imagesAhead } from './images-ahead.ts';

const { ref, pod, observed, signal } = new StepWorld();

stepLaws('images-ahead', () => ({ step: imagesAhead(new StepWorld().images), pod: ref, facts: { pod, observed } }));

test('only the images of containers that never ran are asked for', async () => {
  const asked: string[] = [];
  const images: ImagesPort = {
    ahead: (_pod, list) => asked.push(...list.map(({ name }) => name)),
    ensure: async () => assert.fail(),
    forget: () => undefined,
  };
  const two = aPod({ spec: { initContainers: [aSpec({ name: 'init' })], containers: [aSpec(), aSpec({ name: 'new' })] } });
  await imagesAhead(images).run(ref, { pod: two, observed: observedOf([aSandbox()], [aContainer('init'), aContainer('main')]) }, signal);
  assert.deepEqual(asked, ['new']);
});
