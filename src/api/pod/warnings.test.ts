import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { newPodWarnings, podTemplateWarnings } from './warnings.ts';

const nullSelector = 'a null labelSelector results in matching no pod';

test('a plain pod gives nobody a surprise', () => {
  assert.deepEqual(newPodWarnings(aPod()), []);
});

test('a pod with dots in its name has no such host', () => {
  assert.deepEqual(newPodWarnings(aPod({ metadata: { name: 'a.b' } })), [
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});

test('old names, selectors of nothing and doubles are warned about, with the field', () => {
  const term = { topologyKey: 'zone' };
  const pod = aPod({
    metadata: { annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } },
    spec: {
      terminationGracePeriodSeconds: -1,
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'Exists' }] }],
          },
        },
        podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
      },
      volumes: [{ name: 'a', gitRepo: { repository: 'r' } }],
      hostAliases: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }],
      imagePullSecrets: [{ name: 'a' }, { name: 'a' }, { name: '' }],
    },
  });
  assert.deepEqual(newPodWarnings(pod), [
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: ' +
      'beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is ' +
      'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    `spec.topologySpreadConstraints[0].labelSelector: ${nullSelector}`,
    'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    'spec.volumes[0].gitRepo: deprecated in v1.11',
    'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    `spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: ${nullSelector}`,
    `spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${nullSelector}`,
  ]);
});

test('a variable that builds on the one before does not hide it', () => {
  const env = [
    { name: 'PATH', value: '/bin' },
    { name: 'PATH', value: '$(PATH):/usr/bin' },
    { name: 'PATH', value: '$(PATH)' },
  ];
  assert.deepEqual(newPodWarnings(aPod({ spec: { containers: [aContainer({ env })] } })), [
    'spec.containers[0].env[2]: hides previous definition of "PATH", which may be dropped when using apply',
  ]);
});

test('ports that overlap and bytes in pieces are warned about', () => {
  const ports = [
    { containerPort: 80, protocol: 'TCP' },
    { containerPort: 80, protocol: 'UDP' },
    { containerPort: 80, protocol: 'TCP', hostPort: 8080 },
    { containerPort: 80, protocol: 'TCP', hostPort: 8080, hostIP: '10.0.0.1' },
  ];
  const side = aContainer({ name: 'side', ports: [{ containerPort: 80, protocol: 'TCP' }], resources: { requests: { memory: '100m' } } });
  const template = { spec: aPod({ spec: { containers: [aContainer({ ports }), side] } }).spec };
  const at = 'spec.template.spec.containers';
  assert.deepEqual(podTemplateWarnings(template, 'spec.template'), [
    `${at}[1].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer`,
    `${at}[0].ports[2]: overlapping port definition with ${at}[0].ports[0]`,
    `${at}[0].ports[3]: overlapping port definition with ${at}[0].ports[0]`,
    `${at}[0].ports[3]: dangerously ambiguous port definition with ${at}[0].ports[2]`,
    `${at}[1].ports[0]: duplicate port definition with ${at}[0].ports[0]`,
    `${at}[1].ports[0]: overlapping port definition with ${at}[0].ports[2]`,
    `${at}[1].ports[0]: overlapping port definition with ${at}[0].ports[3]`,
  ]);
});

test('of thousands of equal ports the first pairs are told, not millions', () => {
  const containers = Array.from({ length: 3_000 }, (_, index) => ({
    name: `c${index}`,
    image: 'i',
    ports: [{ containerPort: 80, protocol: 'TCP' }],
  }));
  const told = newPodWarnings(aPod({ spec: { containers } }));
  assert.equal(told.length, 256);
  assert.equal(told[0], 'spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]');
});

test('a hundred ports more do not hide the pair that overlaps', () => {
  const others = Array.from({ length: 150 }, (_, index) => ({ containerPort: 1000 + index, protocol: 'TCP' }));
  const ports = [{ containerPort: 80, protocol: 'TCP' }, ...others, { containerPort: 80, protocol: 'TCP' }, { containerPort: 80, protocol: 'UDP' }];
  assert.deepEqual(newPodWarnings(aPod({ spec: { containers: [{ name: 'main', image: 'i', ports }] } })), [
    'spec.containers[0].ports[151]: duplicate port definition with spec.containers[0].ports[0]',
  ]);
});
