import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { VolumeMount } from '#api/types/core-v1.ts';
import { nestedMountPoints, soleUser, wantedVolumes } from './wanted.ts';

function mounting(...volumeMounts: readonly VolumeMount[]) {
  return aContainer({ volumeMounts });
}

test('a volume that no container uses is not wanted', () => {
  const volumes = ['a', 'b', 'c', 'd', 'unused'].map((name) => ({ name, emptyDir: {} }));
  const { spec } = aPod({
    spec: {
      volumes,
      containers: [mounting({ name: 'a', mountPath: '/a' }), aContainer({ volumeDevices: [{ name: 'd', devicePath: '/dev/d' }] })],
      initContainers: [mounting({ name: 'b', mountPath: '/b' })],
      ephemeralContainers: [{ name: 'debug', volumeMounts: [{ name: 'c', mountPath: '/c' }] }],
    },
  });
  assert.deepEqual(
    wantedVolumes(spec).map(({ name }) => name),
    ['a', 'b', 'c', 'd'],
  );
});

test('an image that is a volume is the runtime\u2019s to mount', () => {
  const pod = aPod({ spec: { volumes: [{ name: 'it', image: { reference: 'x' } }], containers: [mounting({ name: 'it', mountPath: '/it' })] } });
  assert.deepEqual(wantedVolumes(pod.spec), []);
});

test('a mount inside a volume needs its folder there', () => {
  const outer = { name: 'outer', mountPath: '/etc/app/' };
  const { spec } = aPod({
    spec: {
      containers: [
        mounting(
          outer,
          { name: 'inner', mountPath: '/etc/app/conf.d' },
          { name: 'beside', mountPath: '/etc/application' },
          { name: 'x', mountPath: '/etc/app/a/b/' },
        ),
        mounting({ ...outer, subPath: 'part' }, { name: 'inner', mountPath: '/etc/app/other' }),
      ],
    },
  });
  assert.deepEqual(nestedMountPoints('outer', spec), ['a/b', 'conf.d']);
  assert.deepEqual(nestedMountPoints('inner', spec), []);
});

test('a pod has a sole user when all containers run as the same one', () => {
  const as = (runAsUser?: number) => aContainer({ securityContext: { runAsUser } });
  const userOf = (podUser: number | undefined, ...containers: readonly ReturnType<typeof as>[]) =>
    soleUser(aPod({ spec: { containers, securityContext: { runAsUser: podUser } } }).spec);
  assert.deepEqual(
    [userOf(undefined, as(), as()), userOf(5, as(), as(5)), userOf(5, as(), as(6)), userOf(undefined, as(5), as()), userOf(undefined, as(0))],
    [undefined, 5, undefined, undefined, 0],
  );
});
