import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod, PodSpec } from '#api/types/core-v1.ts';
import { defaultPod } from './default-pod.ts';
import { imageParts } from './image-reference.ts';

const base = aPod();
const bare = (spec: PodSpec): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: base.metadata, spec });
const defaulted = (spec: PodSpec) => defaultPod(bare(spec)).spec;

test('a pod with nothing but an image gets every default', () => {
  assert.deepEqual(defaulted({ containers: [{ name: 'main', image: 'busybox' }] }), {
    containers: [
      {
        name: 'main',
        image: 'busybox',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
  });
});

test('a pod that has everything is not copied', () => {
  const pod = defaultPod(aPod());
  assert.equal(defaultPod(pod), pod);
});

test('what is given stays, also zero where zero means something', () => {
  const spec = defaulted({ containers: [aContainer()], terminationGracePeriodSeconds: 0, restartPolicy: 'Never', enableServiceLinks: false });
  assert.deepEqual([spec?.terminationGracePeriodSeconds, spec?.restartPolicy, spec?.enableServiceLinks], [0, 'Never', false]);
  assert.equal(defaulted({ containers: [aContainer()], restartPolicy: '' })?.restartPolicy, 'Always');
});

for (const [image, parts, policy] of [
  ['busybox', ['busybox', 'latest', ''], 'Always'],
  ['busybox:latest', ['busybox', 'latest', ''], 'Always'],
  ['busybox:1.36', ['busybox', '1.36', ''], 'IfNotPresent'],
  ['host:5000/a/b', ['host:5000/a/b', 'latest', ''], 'Always'],
  ['host:5000/a/b:2', ['host:5000/a/b', '2', ''], 'IfNotPresent'],
  ['a@sha256:00', ['a', '', 'sha256:00'], 'IfNotPresent'],
  ['a:latest@sha256:00', ['a', 'latest', 'sha256:00'], 'Always'],
] as const) {
  test(`the image ${image} is pulled ${policy}`, () => {
    const { repository, tag, digest } = imageParts(image);
    assert.deepEqual([repository, tag, digest], parts);
    assert.equal(defaulted({ containers: [{ name: 'a', image }] })?.containers[0]?.imagePullPolicy, policy);
  });
}

test('requests come from limits, each resource on its own', () => {
  const resources = { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } };
  assert.deepEqual(defaulted({ containers: [aContainer({ resources })] })?.containers[0]?.resources, {
    requests: { cpu: '1', memory: '1Gi' },
    limits: { cpu: '2', memory: '1Gi' },
  });
});

test('pod-level requests come from the containers, then from the pod-level limits', () => {
  const spec = defaulted({
    containers: [aContainer({ resources: { requests: { cpu: '250m' } } })],
    resources: { limits: { cpu: '2', memory: '1Gi' } },
  });
  assert.deepEqual(spec?.resources, { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '250m', memory: '1Gi' } });
});

test('ports of a pod on the host network are ports of the host', () => {
  const containers = [aContainer({ ports: [{ containerPort: 80 }] })];
  assert.deepEqual(defaulted({ containers })?.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP' }]);
  assert.deepEqual(defaulted({ containers, hostNetwork: true })?.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP', hostPort: 80 }]);
});

test('probes, hooks and variables are written out', () => {
  const container = aContainer({
    livenessProbe: { httpGet: { port: 80 }, periodSeconds: 0 },
    readinessProbe: { grpc: { port: 1 }, timeoutSeconds: 7 },
    lifecycle: { preStop: { httpGet: { port: 'http' } } },
    env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  });
  const { livenessProbe, readinessProbe, lifecycle, env } = defaulted({ containers: [container] })?.containers[0] ?? {};
  const counts = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  assert.deepEqual(livenessProbe, { httpGet: { port: 80, path: '/', scheme: 'HTTP' }, ...counts });
  assert.deepEqual(readinessProbe, { grpc: { port: 1, service: '' }, ...counts, timeoutSeconds: 7 });
  assert.deepEqual(lifecycle, { preStop: { httpGet: { port: 'http', path: '/', scheme: 'HTTP' } } });
  assert.deepEqual(env, [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } } }]);
});

test('volumes get their modes, and one without a source is an empty folder', () => {
  const spec = defaulted({
    containers: [aContainer()],
    volumes: [
      { name: 'a' },
      { name: 'b', configMap: { name: 'm' } },
      { name: 'c', secret: { secretName: 's', defaultMode: 256 } },
      { name: 'd', hostPath: { path: '/x' } },
      { name: 'e', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'f', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    ],
  });
  assert.deepEqual(spec?.volumes, [
    { name: 'a', emptyDir: {} },
    { name: 'b', configMap: { name: 'm', defaultMode: 420 } },
    { name: 'c', secret: { secretName: 's', defaultMode: 256 } },
    { name: 'd', hostPath: { path: '/x', type: '' } },
    { name: 'e', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } }], defaultMode: 420 } },
    { name: 'f', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }], defaultMode: 420 } },
  ]);
});

test('both names of the service account are written', () => {
  assert.equal(defaulted({ containers: [aContainer()], serviceAccountName: 'a' })?.serviceAccount, 'a');
  assert.equal(defaulted({ containers: [aContainer()], serviceAccount: 'a' })?.serviceAccountName, 'a');
});

test('less than no time to end in is a second', () => {
  assert.equal(defaultPod(aPod({ spec: { terminationGracePeriodSeconds: -1 } })).spec?.terminationGracePeriodSeconds, 1);
});
