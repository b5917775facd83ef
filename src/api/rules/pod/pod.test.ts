import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';

type Spec = NonNullable<NonNullable<Parameters<typeof aPod>[0]>['spec']>;
type ContainerPart = Parameters<typeof aContainer>[0];

const problems = (pod: Pod) => podKind.validate(pod).map(problemText);
const ofSpec = (spec: Spec) => problems(aPod({ spec }));
const ofContainer = (part: ContainerPart, spec: Spec = {}) => ofSpec({ ...spec, containers: [aContainer(part)] });

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
  "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test('a pod that is right has no problems', () => assert.deepEqual(problems(aPod()), []));

test('a pod with everything that is allowed has no problems', () => {
  const pod = aPod({
    spec: {
      hostNetwork: true,
      securityContext: {
        runAsUser: 0,
        fsGroup: 5,
        sysctls: [{ name: 'net.ipv4.ip_forward', value: '1' }],
        seccompProfile: { type: 'RuntimeDefault' },
      },
      volumes: [
        { name: 'a', emptyDir: { sizeLimit: '1Gi' } },
        { name: 'b', configMap: { name: 'm', items: [{ key: 'k', path: 'a/b' }], defaultMode: 420 } },
        { name: 'c', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }, { configMap: { name: 'x' } }] } },
        { name: 'd', hostPath: { path: '/etc', type: 'Directory' } },
        { name: 'e', persistentVolumeClaim: { claimName: 'claim' } },
      ],
      initContainers: [aContainer({ name: 's', restartPolicy: 'Always', livenessProbe: { exec: { command: ['true'] }, successThreshold: 1 } })],
      containers: [
        aContainer({
          ports: [{ name: 'http', containerPort: 80, hostPort: 80, protocol: 'TCP' }],
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['app']" } } },
            { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          ],
          envFrom: [{ configMapRef: { name: 'm' } }],
          volumeMounts: [{ name: 'a', mountPath: '/a', subPath: 'x' }],
          volumeDevices: [{ name: 'e', devicePath: '/dev/x' }],
          resources: { requests: { cpu: '1', 'nvidia.com/gpu': '1' }, limits: { cpu: '2', 'nvidia.com/gpu': '1' } },
          readinessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, successThreshold: 3 },
          lifecycle: { preStop: { sleep: { seconds: 5 } } },
        }),
      ],
      tolerations: [{ operator: 'Exists' }, { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 3 }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 }],
    },
  });
  assert.deepEqual(problems(pod), []);
});

const specs: readonly (readonly [spec: Spec, expected: readonly string[]])[] = [
  [{ containers: [] }, ['spec.containers: Required value']],
  [{ restartPolicy: 'Sometimes' }, ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"']],
  [{ containers: [aContainer(), aContainer()] }, ['spec.containers[1].name: Duplicate value: "main"']],
  [{ initContainers: [aContainer()] }, ['spec.initContainers[0].name: Duplicate value: "main"']],
  [
    { initContainers: [aContainer({ name: 'i', lifecycle: {} })] },
    ['spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always'],
  ],
  [{ volumes: [{ name: 'A', emptyDir: {} }] }, [`spec.volumes[0].name: Invalid value: "A": ${label}`]],
  [
    {
      volumes: [
        { name: 'a', emptyDir: {} },
        { name: 'a', emptyDir: {} },
      ],
    },
    ['spec.volumes[1].name: Duplicate value: "a"'],
  ],
  [
    { volumes: [{ name: 'a', emptyDir: {}, hostPath: { path: '/x' } }] },
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [{ volumes: [{ name: 'a', secret: {} }] }, ['spec.volumes[0].secret.secretName: Required value']],
  [
    { volumes: [{ name: 'a', configMap: { name: 'm', defaultMode: 512 } }] },
    ['spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive'],
  ],
  [
    { volumes: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 5 } }] } }] },
    ['spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes'],
  ],
  [{ hostname: 'a.b' }, ['spec.hostname: Invalid value: "a.b": must not contain dots']],
  [{ dnsPolicy: 'None' }, ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
  [{ activeDeadlineSeconds: 0 }, ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive']],
  [
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] },
    [
      'spec.tolerations[0].operator: Invalid value: {"key":"a","operator":"Exists","value":"x","effect":""}: value must be empty when `operator` is \'Exists\'',
    ],
  ],
  [
    { tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 1 }] },
    ['spec.tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ],
  [
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
  ],
  [{ schedulingGates: [{ name: 'a' }], nodeName: 'n' }, ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared']],
  [{ securityContext: { runAsUser: -1 } }, ['spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive']],
  [{ overhead: { cpu: '-1' } }, ['spec.overhead[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
  [
    { ephemeralContainers: [{ name: 'e', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }] },
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
];

for (const [spec, expected] of specs) {
  test(`a spec is refused: ${expected[0]}`, () => assert.deepEqual(ofSpec(spec), expected));
}

const c = 'spec.containers[0]';
const containers: readonly (readonly [part: ContainerPart, expected: readonly string[]])[] = [
  [{ name: 'a_b' }, [`${c}.name: Invalid value: "a_b": ${label}`]],
  [{ image: '' }, [`${c}.image: Required value`]],
  [{ image: ' a' }, [`${c}.image: Invalid value: " a": must not have leading or trailing whitespace`]],
  [{ imagePullPolicy: 'Often' }, [`${c}.imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"`]],
  [{ ports: [{ containerPort: 0, protocol: 'TCP' }] }, [`${c}.ports[0].containerPort: Required value`]],
  [
    { ports: [{ containerPort: 70000, protocol: 'TCP' }] },
    [`${c}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`],
  ],
  [
    { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
    [`${c}.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`],
  ],
  [
    {
      ports: [
        { containerPort: 1, hostPort: 8080, protocol: 'TCP' },
        { containerPort: 2, hostPort: 8080, protocol: 'TCP' },
      ],
    },
    [`${c}.ports[1].hostPort: Duplicate value: "TCP//8080"`],
  ],
  [{ env: [{ name: '' }] }, [`${c}.env[0].name: Required value`]],
  [
    { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }] },
    [`${c}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
  ],
  [
    { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.x' } } }] },
    [
      `${c}.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "spec.x": supported values: "metadata.name", "metadata.namespace", "metadata.uid", ` +
        '"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
  [{ envFrom: [{}] }, [`${c}.envFrom[0]: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``]],
  [{ volumeMounts: [{ name: 'gone', mountPath: '/a' }] }, [`${c}.volumeMounts[0].name: Not found: "gone"`]],
  [{ livenessProbe: {} }, [`${c}.livenessProbe: Required value: must specify a handler type`]],
  [{ livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }, [`${c}.livenessProbe.successThreshold: Invalid value: 2: must be 1`]],
  [
    { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
    [`${c}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  ],
  [
    { resources: { requests: { 'nvidia.com/gpu': '1' } } },
    [`${c}.resources.limits: Required value: Limit must be set for non overcommitable resources`],
  ],
  [
    { resources: { requests: { 'nvidia.com/gpu': '500m' }, limits: { 'nvidia.com/gpu': '500m' } } },
    [
      `${c}.resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer`,
      `${c}.resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer`,
    ],
  ],
  [
    { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
    [
      `${c}.securityContext: Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    ],
  ],
  [{ restartPolicy: 'Maybe' }, [`${c}.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "Never", "OnFailure"`]],
];

for (const [part, expected] of containers) {
  test(`a container is refused: ${expected[0]}`, () => assert.deepEqual(ofContainer(part), expected));
}

test('mounts of one container have paths of their own and stay in their volume', () => {
  const volumes = [{ name: 'a', emptyDir: {} }];
  const mounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'a', mountPath: '/a', subPath: '../x' },
  ];
  assert.deepEqual(ofContainer({ volumeMounts: mounts }, { volumes }), [
    `${c}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
    `${c}.volumeMounts[1].subPath: Invalid value: "../x": must not contain '..'`,
  ]);
});

test('a host port of a pod on the host network is the container port', () => {
  const ports = [{ containerPort: 80, hostPort: 81, protocol: 'TCP' }];
  assert.deepEqual(ofContainer({ ports }, { hostNetwork: true }), [
    `${c}.ports[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`,
  ]);
});

test('what a client left out is told, not stumbled over', () => {
  const empty = podKind.setDefaults({ apiVersion: 'v1', kind: 'Pod', metadata: aPod().metadata });
  assert.deepEqual(problems(podKind.prepareCreate(empty)), ['spec.containers: Required value']);
  // A client may send what the types do not allow; the schema lets absent fields through.
  const hollow: Pod = JSON.parse(
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"},"spec":{"containers":[{"env":[{}],"ports":[{}],"volumeMounts":[{}],"volumeDevices":[{}],"envFrom":[{}],"livenessProbe":{},"resizePolicy":[{}],"lifecycle":{"preStop":{}}}],"volumes":[{"secret":{"items":[{}]}},{"projected":{"sources":[{},{"serviceAccountToken":{}}]}},{"downwardAPI":{"items":[{}]}}],"tolerations":[{}],"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}],"requiredDuringSchedulingIgnoredDuringExecution":{}},"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}],"preferredDuringSchedulingIgnoredDuringExecution":[{}]}},"topologySpreadConstraints":[{}],"schedulingGates":[{}],"readinessGates":[{}],"hostAliases":[{}],"imagePullSecrets":[{}],"dnsConfig":{"options":[{}]},"securityContext":{"sysctls":[{}],"seccompProfile":{}}}}',
  );
  assert.ok(problems(podKind.prepareCreate(podKind.setDefaults(hollow))).length > 30);
});
