import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aDeployment, template } from '#api/testing/workloads.ts';
import { deployment } from './deployment.ts';

test('a deployment is stored with everything that its author left to the server', () => {
  const { metadata, spec, status } = created(deployment, { ...aDeployment(), status: { replicas: 7 } });
  assert.equal(metadata.generation, 1);
  assert.deepEqual(status, {});
  assert.deepEqual(spec, {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'web:1',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
        ],
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
        securityContext: {},
        enableServiceLinks: true,
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
});

for (const [what, body, expected] of [
  [
    'without a selector',
    aDeployment({ selector: undefined }),
    ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  ],
  [
    'with a selector that takes everything',
    aDeployment({ selector: {} }),
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  [
    'with a selector that cannot be read',
    aDeployment({ selector: { matchExpressions: [{ key: 'app', operator: 'In' }] }, template: {} }),
    [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}: invalid label selector',
    ],
  ],
  [
    'that does not select its own pods',
    aDeployment({ selector: { matchLabels: { app: 'db' } } }),
    ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  ],
  [
    'whose pods end',
    aDeployment({ template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }) }),
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ],
  [
    'with ephemeral containers',
    aDeployment({ template: template({ ephemeralContainers: [{ name: 'debug', image: 'i:1' }] }) }),
    ['spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template'],
  ],
  [
    'with a container without an image',
    aDeployment({ template: template({ containers: [{ name: 'main' }] }) }),
    ['spec.template.spec.containers[0].image: Required value'],
  ],
  [
    'that can neither add nor take away',
    aDeployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } }),
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  ],
  [
    'with parts of nothing',
    aDeployment({ strategy: { rollingUpdate: { maxSurge: 'half', maxUnavailable: '101%' } } }),
    [
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: "half": a valid percent string must be a numeric string followed by an ending \'%\' ' +
        "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ],
  ],
  [
    'that replaces all at once, but in steps',
    aDeployment({ strategy: { type: 'Recreate', rollingUpdate: {} } }),
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'with a strategy of its own',
    aDeployment({ strategy: { type: 'Blue' } }),
    ['spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
  ],
  [
    'with numbers that are none',
    aDeployment({ replicas: -1, minReadySeconds: 5, progressDeadlineSeconds: 5, revisionHistoryLimit: -1 }),
    [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds',
    ],
  ],
] as const) {
  test(`a deployment ${what} is refused`, () => {
    assert.deepEqual(refusal(deployment, body), expected);
  });
}

test('a template may have a projected token without an account', () => {
  const sources = [{ serviceAccountToken: { path: 'token' } }];
  assert.deepEqual(refusal(deployment, aDeployment({ template: template({ volumes: [{ name: 'token', projected: { sources } }] }) })), []);
});

test('an empty name of a pull secret is allowed', () => {
  assert.deepEqual(refusal(deployment, aDeployment({ template: template({ imagePullSecrets: [{ name: '' }] }) })), []);
});

test('29: a change of the spec or of an annotation is a generation of a deployment, a change of a label is none', () => {
  const first = created(deployment, aDeployment());
  const generationWith = (change: object) => updated(deployment, first, { ...first, ...change }).object.metadata.generation;
  assert.equal(generationWith({ metadata: { ...first.metadata, labels: { a: 'b' } } }), 1);
  assert.equal(generationWith({ metadata: { ...first.metadata, annotations: { a: 'b' } } }), 2);
  assert.equal(generationWith({ spec: { ...first.spec, paused: true } }), 2);
  assert.equal(generationWith({ spec: { ...first.spec, paused: false } }), 1);
});

test('the selector of a deployment stays', () => {
  const first = created(deployment, aDeployment());
  const next = created(deployment, aDeployment({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }));
  assert.deepEqual(updated(deployment, first, next).refusal, [
    'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Exists"}]}: field is immutable',
  ]);
});

test('a status endpoint keeps the labels, and refuses what does not add up', () => {
  const first = created(deployment, aDeployment());
  const labelled = { ...first, metadata: { ...first.metadata, labels: { a: 'b' }, annotations: { c: 'd' } } };
  const { metadata } = deployment.prepareStatusUpdate(labelled, first);
  assert.deepEqual([metadata.labels, metadata.annotations], [undefined, { c: 'd' }]);
  assert.deepEqual(statusRefusal(deployment, first, { replicas: 1, readyReplicas: 2, collisionCount: -1 }), [
    'status.collisionCount: Invalid value: -1: must be greater than or equal to 0',
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.collisionCount: Invalid value: -1: cannot be decremented',
  ]);
});

test('the row of a deployment', () => {
  const object = created(deployment, aDeployment({ replicas: 3 }));
  const status = { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };
  assert.deepEqual(cells(deployment, { ...object, status }), ['web', '2/3', 3, 1, '5m', 'main', 'web:1', 'app=web']);
});

test('whoever writes a deployment is told what may surprise', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
  ];
  const spec = template({ containers: [{ name: 'main', image: 'i:1', env }], nodeSelector: { 'beta.kubernetes.io/os': 'linux' } });
  const object = created(deployment, { ...aDeployment({ template: spec }), metadata: { name: 'web.example' } });
  const ofTemplate = [
    'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
  ];
  assert.deepEqual(deployment.warnings(object, undefined), [
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
    ...ofTemplate,
  ]);
  assert.deepEqual(deployment.warnings(object, object), []);
  assert.deepEqual(deployment.warnings({ ...object, metadata: { ...object.metadata, generation: 2 } }, object), ofTemplate);
});
