import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';

type Spec = NonNullable<NonNullable<Parameters<typeof aPod>[0]>['spec']>;
type ContainerPart = Parameters<typeof aContainer>[0];

const ofSpec = (spec: Spec) => podKind.validate(aPod({ spec })).map(problemText);
const c = 'spec.containers[0]';
const volumes = [
  { name: 'a', emptyDir: {} },
  { name: 'p', persistentVolumeClaim: { claimName: 'c' } },
];
const exec = { exec: { command: ['x'] } };

const containers: readonly (readonly [part: ContainerPart, expected: readonly string[], spec?: Spec])[] = [
  [
    { volumeMounts: [{ name: 'a', mountPath: '/x', subPath: 'a', subPathExpr: 'b' }] },
    [`${c}.volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive`],
    { volumes },
  ],
  [
    { volumeMounts: [{ name: 'a', mountPath: '/x', subPath: '/a' }] },
    [`${c}.volumeMounts[0].subPath: Invalid value: "/a": must be a relative path`],
    { volumes },
  ],
  [
    { volumeMounts: [{ name: 'a', mountPath: '', mountPropagation: 'Bidirectional' }] },
    [
      `${c}.volumeMounts[0].mountPath: Required value`,
      `${c}.volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
    ],
    { volumes },
  ],
  [
    { securityContext: { procMount: 'Unmasked' } },
    [`${c}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``],
  ],
  [
    { volumeDevices: [{ name: 'a', devicePath: '/d' }] },
    [`${c}.volumeDevices[0].name: Invalid value: "a": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`],
    { volumes },
  ],
  [
    {
      volumeDevices: [
        { name: 'p', devicePath: '/d' },
        { name: 'p', devicePath: '/d' },
      ],
    },
    [`${c}.volumeDevices[1].name: Invalid value: "p": must be unique`, `${c}.volumeDevices[1].devicePath: Invalid value: "/d": must be unique`],
    { volumes },
  ],
  [
    { resources: { requests: { 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '2' } } },
    [`${c}.resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2`],
  ],
  [
    { resources: { requests: { 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } } },
    [`${c}.resources: Forbidden: HugePages require cpu or memory`],
  ],
  [{ resources: { requests: { cpu: '-1' } } }, [`${c}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`]],
  [
    { livenessProbe: { ...exec, tcpSocket: { port: 1 }, successThreshold: 1 } },
    [`${c}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`],
  ],
  [
    { livenessProbe: { ...exec, periodSeconds: -1, successThreshold: 1, terminationGracePeriodSeconds: 0 } },
    [
      `${c}.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`,
      `${c}.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    ],
  ],
  [
    { readinessProbe: { ...exec, terminationGracePeriodSeconds: 5 } },
    [`${c}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`],
  ],
  [
    { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
    [`${c}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`],
  ],
  [
    { restartPolicyRules: [{ action: 'Restart' }] },
    [
      `${c}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
      `${c}.restartPolicyRules[0].exitCodes: Required value: must be specified`,
    ],
  ],
  [
    { restartPolicy: 'Never', restartPolicyRules: [{ action: 'X', exitCodes: { operator: 'Y' } }] },
    [
      `${c}.restartPolicyRules[0].action: Unsupported value: "X": supported values: "Restart", "RestartAllContainers"`,
      `${c}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Y": supported values: "In", "NotIn"`,
    ],
  ],
  [
    {
      resizePolicy: [
        { resourceName: 'disk', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    },
    [
      `${c}.resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`,
      `${c}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when pod \`restartPolicy\` is 'Never'`,
      `${c}.resizePolicy: Duplicate value: "cpu"`,
    ],
    { restartPolicy: 'Never' },
  ],
];

for (const [part, expected, spec = {}] of containers) {
  test(`a container is refused: ${expected[0]}`, () => assert.deepEqual(ofSpec({ ...spec, containers: [aContainer(part)] }), expected));
}

const nodes = 'spec.affinity.nodeAffinity';
const specs: readonly (readonly [spec: Spec, expected: readonly string[]])[] = [
  [
    {
      volumes: [
        { name: 'a' },
        { name: 'b', hostPath: { path: '' } },
        { name: 'c', persistentVolumeClaim: { claimName: '' } },
        { name: 'd', configMap: {} },
      ],
    },
    [
      'spec.volumes[0]: Required value: must specify a volume type',
      'spec.volumes[1].hostPath.path: Required value',
      'spec.volumes[2].persistentVolumeClaim.claimName: Required value',
      'spec.volumes[3].configMap.name: Required value',
    ],
  ],
  [
    {
      volumes: [
        {
          name: 'a',
          projected: {
            sources: [{ configMap: { name: 'x', items: [{ key: 'k', path: 'p' }] } }, { secret: { name: 'y', items: [{ key: 'k', path: 'p' }] } }],
          },
        },
      ],
    },
    ['spec.volumes[0].projected.sources[1]: Invalid value: "y": conflicting duplicate paths'],
  ],
  [
    { serviceAccountName: '', volumes: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } }] },
    ['spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set'],
  ],
  [
    {
      initContainers: [
        aContainer({
          name: 'i',
          restartPolicy: 'Always',
          restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
        }),
      ],
    },
    [],
  ],
  [
    { initContainers: [aContainer({ name: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })] },
    [
      `spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
    ],
  ],
  [
    { dnsPolicy: 'None', dnsConfig: {} },
    ['spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None'],
  ],
  [
    { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
    ['spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers'],
  ],
  [
    { dnsConfig: { nameservers: ['x'] } },
    ['spec.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    { hostAliases: [{ ip: 'x' }], subdomain: 'a.b' },
    [
      'spec.subdomain: Invalid value: "a.b": must not contain dots',
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    {
      tolerations: [
        { operator: 'Equal', value: 'x' },
        { key: 'a', operator: 'Exists', effect: 'Never' },
      ],
    },
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      'spec.tolerations[1].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'Gt', values: ['1', '2'] },
                  { key: 'b', operator: 'X' },
                ],
                matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['a'] }],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } }],
        },
      },
    },
    [
      `${nodes}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
      `${nodes}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "X": not a valid selector operator`,
      `${nodes}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
      `${nodes}.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100`,
    ],
  ],
  [
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] } } },
    ['spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty'],
  ],
  [
    {
      topologySpreadConstraints: [
        { maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'X' },
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 },
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway' },
      ],
    },
    [
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
      'spec.topologySpreadConstraints[1].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
      'spec.topologySpreadConstraints[2].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, ScheduleAnyway}"',
    ],
  ],
  [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, ['spec.schedulingGates[1]: Duplicate value: "a"']],
  [
    { securityContext: { seccompProfile: { type: 'Localhost' } } },
    ['spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
  ],
  [
    { securityContext: { sysctls: [{ name: 'a b', value: '1' }] } },
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "a b": must have at most 253 characters and match regex ' +
        '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  ],
  [
    { shareProcessNamespace: true, hostPID: true },
    ['spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
  ],
  [
    { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
    [
      'spec.hostNetwork: Forbidden: when `hostUsers` is false',
      'spec.hostPID: Forbidden: when `hostUsers` is false',
      'spec.hostIPC: Forbidden: when `hostUsers` is false',
    ],
  ],
];

for (const [spec, expected] of specs) {
  test(`a spec is refused: ${expected[0]}`, () => assert.deepEqual(ofSpec(spec), expected));
}

test('a pod that stands for one of its kubelet’s names the node', () => {
  const mirror = aPod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } });
  assert.deepEqual(podKind.validate(mirror).map(problemText), [
    'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  ]);
});
