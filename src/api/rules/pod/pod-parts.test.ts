import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Container, ContainerStatus, EphemeralContainer, Pod, ResourceRequirements } from '#api/types/core-v1.ts';

const parts = podKind.partialUpdates;
const through = (part: keyof typeof parts, next: Pod, previous: Pod) => {
  const prepared = parts[part]?.prepare(next, previous);
  assert.ok(prepared !== undefined);
  return { prepared, problems: (parts[part]?.validate(prepared, previous) ?? []).map(problemText) };
};
const debug = (part: Partial<EphemeralContainer> = {}): EphemeralContainer => ({
  name: 'debug',
  image: 'busybox',
  imagePullPolicy: 'Always',
  terminationMessagePolicy: 'File',
  ...part,
});
const withDebug = (...ephemeralContainers: readonly EphemeralContainer[]) => aPod({ metadata: { generation: 1 }, spec: { ephemeralContainers } });

test('an ephemeral container comes, counts a generation, and nothing else of the pod changes', () => {
  const next = aPod({ metadata: { generation: 1, labels: { x: 'y' } }, spec: { nodeName: 'n', ephemeralContainers: [debug()] } });
  const { prepared, problems } = through('ephemeralcontainers', next, withDebug());
  assert.deepEqual(problems, []);
  assert.deepEqual(
    [prepared.metadata.generation, prepared.metadata.labels, prepared.spec?.nodeName, prepared.spec?.ephemeralContainers],
    [2, undefined, undefined, [debug()]],
  );
});

test('an ephemeral container neither changes nor goes', () => {
  assert.deepEqual(through('ephemeralcontainers', withDebug(debug({ image: 'other' })), withDebug(debug())).problems, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n',
  ]);
  assert.deepEqual(through('ephemeralcontainers', withDebug(), withDebug(debug())).problems, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  ]);
  const same = through('ephemeralcontainers', withDebug(debug()), withDebug(debug()));
  assert.deepEqual([same.problems, same.prepared.metadata.generation], [[], 1]);
});

test('an ephemeral container has a name of its own, a target that exists, and nothing that a service would need', () => {
  const next = withDebug(
    debug({ name: 'main' }),
    debug({
      targetContainerName: 'none',
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      resources: { limits: { cpu: '1' } },
      lifecycle: { preStop: { exec: { command: ['x'] } } },
      restartPolicy: 'Always',
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
    }),
  );
  const at = 'spec.ephemeralContainers[1]';
  assert.deepEqual(
    through('ephemeralcontainers', next, withDebug()).problems.filter((text) => text.includes('ephemeralContainers')),
    [
      'spec.ephemeralContainers[0].name: Duplicate value: "main"',
      `${at}.targetContainerName: Not found: "none"`,
      ...['lifecycle', 'ports', 'resources', 'resizePolicy', 'restartPolicy'].map(
        (key) => `${at}.${key}: Forbidden: cannot be set for an Ephemeral Container`,
      ),
    ],
  );
});

test('a static pod takes neither', () => {
  const mirror = aPod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } }, spec: { nodeName: 'n' } });
  assert.deepEqual(through('ephemeralcontainers', mirror, mirror).problems, [': Forbidden: static pods do not support ephemeral containers']);
  assert.deepEqual(through('resize', mirror, mirror).problems, [': Forbidden: static pods cannot be resized']);
});

const sized = (cpu: string, memory = '100Mi', part: Partial<Container> = {}): Container =>
  aContainer({ resources: { requests: { cpu, memory }, limits: { cpu: '2', memory: '1Gi' } }, ...part });
const podOf = (...containers: readonly Container[]) => aPod({ metadata: { generation: 1 }, spec: { containers }, status: { qosClass: 'Burstable' } });

test('processor and memory of a container change, with a generation, and nothing else does', () => {
  const next = aPod({ metadata: { labels: { x: 'y' } }, spec: { nodeName: 'n', containers: [sized('500m', '200Mi', { image: 'other' })] } });
  const { prepared, problems } = through('resize', next, podOf(sized('250m')));
  assert.deepEqual(problems, []);
  const [container] = prepared.spec?.containers ?? [];
  assert.deepEqual(
    [prepared.metadata.generation, prepared.metadata.labels, prepared.spec?.nodeName, container?.image, container?.resources?.requests],
    [2, undefined, undefined, sized('1').image, { cpu: '500m', memory: '200Mi' }],
  );
});

test('a resize neither takes requests and limits away, nor changes the class of the pod', () => {
  const less = aContainer({ resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } });
  assert.deepEqual(through('resize', podOf(less), podOf(sized('250m'))).problems, [
    'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
    'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
  ]);
  const guaranteed = sized('2', '1Gi');
  assert.deepEqual(through('resize', podOf(guaranteed), podOf(sized('250m'))).problems, [
    'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
  ]);
});

test('a resize keeps the containers as they are', () => {
  const [a, b] = [sized('1', '1Mi', { name: 'a' }), sized('1', '1Mi', { name: 'b' })];
  assert.deepEqual(through('resize', podOf(b, a), podOf(a, b)).problems, [
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
  ]);
  assert.deepEqual(through('resize', podOf(a), podOf(a, b)).problems, [
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ]);
});

test('only processor and memory are resized, of init containers too', () => {
  const disk = sized('1', '1Mi', {
    resources: { requests: { cpu: '1', memory: '1Mi', 'ephemeral-storage': '1Gi' }, limits: { cpu: '2', memory: '1Gi' } },
  });
  assert.deepEqual(through('resize', podOf(disk), podOf(sized('1', '1Mi'))).problems, ['spec: Forbidden: only cpu and memory resources are mutable']);
  const withInit = (container: Container) =>
    aPod({ spec: { containers: [sized('1')], initContainers: [container] }, status: { qosClass: 'Burstable' } });
  const init = (cpu: string, part: Partial<Container> = {}) => sized(cpu, '1Mi', { name: 'init', ...part });
  assert.deepEqual(through('resize', withInit(init('2')), withInit(init('1'))).problems, []);
  assert.deepEqual(
    through('resize', withInit(init('2', { restartPolicy: 'Always' })), withInit(init('1', { restartPolicy: 'Always' }))).problems,
    [],
  );
  const sidecar = { restartPolicy: 'Always', resources: disk.resources };
  assert.deepEqual(through('resize', withInit(init('1', sidecar)), withInit(init('1', { restartPolicy: 'Always' }))).problems, [
    'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
  ]);
});

test('what the containers of a pod share is resized with them', () => {
  const withOwn = (resources: ResourceRequirements | undefined) =>
    aPod({ metadata: { generation: 1 }, spec: { containers: [sized('250m')], resources }, status: { qosClass: 'Burstable' } });
  const own = (cpu: string) => ({ requests: { cpu, memory: '1Gi' }, limits: { cpu: '4', memory: '2Gi' } });
  const { prepared, problems } = through('resize', withOwn(own('2')), withOwn(own('1')));
  assert.deepEqual([problems, prepared.metadata.generation, prepared.spec?.resources?.requests?.['cpu']], [[], 2, '2']);
  assert.deepEqual(through('resize', withOwn(own('2')), withOwn(undefined)).problems, []);
  assert.deepEqual(through('resize', withOwn(undefined), withOwn(own('1'))).problems, [
    'spec.resources: Forbidden: pod-level resources cannot be removed',
  ]);
  assert.deepEqual(through('resize', withOwn({ requests: { cpu: '1' }, limits: own('1').limits }), withOwn(own('1'))).problems, [
    'spec.resources.requests: Forbidden: pod-level resource requests cannot be removed',
  ]);
  const pages = { requests: { ...own('1').requests, 'hugepages-2Mi': '2Mi' }, limits: { ...own('1').limits, 'hugepages-2Mi': '2Mi' } };
  assert.deepEqual(through('resize', withOwn(pages), withOwn(own('1'))).problems, [
    'spec: Forbidden: only cpu and memory resources are mutable at pod-level',
  ]);
});

test('a node that does not tell what containers have cannot resize them', () => {
  const running = (part: Partial<ContainerStatus>): Pod => {
    const status: ContainerStatus = { name: 'main', image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} }, ...part };
    return { ...podOf(sized('1')), status: { qosClass: 'Burstable', containerStatuses: [status] } };
  };
  assert.deepEqual(through('resize', podOf(sized('2')), running({})).problems, ['spec: Forbidden: Pod running on node without support for resize']);
  assert.deepEqual(through('resize', podOf(sized('2')), running({ resources: {} })).problems, []);
});
