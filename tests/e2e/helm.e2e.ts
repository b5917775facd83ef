import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { helmOf, outputOf } from '../support/kubectl.ts';
import { busybox } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const { kubectl } = cluster;
const folder = await mkdtemp(join(tmpdir(), 'helm-e2e-'));
after(() => rm(folder, { recursive: true, force: true }));
const helm = helmOf(cluster.kubeconfig, folder);
const chart = join(folder, 'shop');

const hook = (name: string, when: string, command: string) => `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-${name}
  annotations:
    helm.sh/hook: ${when}
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: ${busybox}
      imagePullPolicy: IfNotPresent
      command: [sh, -c, '${command}']
`;

const files: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "1"\nkubeVersion: ">=1.25.0-0"\n',
  'values.yaml': 'color: blue\nreplicas: 0\n',
  'templates/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-config}\ndata: {color: {{ .Values.color }}}\n',
  'templates/account.yaml': `apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}}
rules:
  - {apiGroups: [''], resources: [configmaps], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}]
`,
  'templates/web.yaml': `{{- if .Capabilities.APIVersions.Has "apps/v1/Deployment" }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: main, image: ${busybox}, env: [{name: COLOR, value: {{ .Values.color }}}]}]}
---
{{- end }}
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: {{ .Release.Name }}}
spec: {defaultBackend: {service: {name: {{ .Release.Name }}, port: {number: 80}}}}
`,
  'templates/before.yaml': hook('before', 'pre-install,pre-upgrade', 'echo before'),
  'templates/after.yaml': hook('after', 'post-install,post-upgrade,post-rollback', 'echo after'),
  'templates/tests/reads.yaml': hook('reads', 'test', 'echo tested; test -s /var/run/secrets/kubernetes.io/serviceaccount/token'),
  'templates/last.yaml': hook('last', 'post-delete', 'echo gone'),
};
for (const [name, text] of Object.entries(files)) {
  await mkdir(join(chart, name, '..'), { recursive: true });
  await writeFile(join(chart, name), text);
}

const color = async () => outputOf(await kubectl('get configmap red-shop-config -o jsonpath={.data.color}'));
const state = async () =>
  (JSON.parse(outputOf(await helm('history red-shop -o json'))) as { revision: number; status: string }[]).map(
    ({ revision, status }) => `${revision} ${status}`,
  );
const phase = async (pod: string) => outputOf(await kubectl(`get pod ${pod} -o jsonpath={.status.phase}`));

test('a chart with hooks is installed', async () => {
  const said = outputOf(await helm(['install', 'red-shop', chart, '--timeout', '60s']));
  assert.match(said, /STATUS: deployed\nREVISION: 1/);
  assert.equal(await color(), 'blue');
  assert.deepEqual([await phase('red-shop-before'), await phase('red-shop-after')], ['Succeeded', 'Succeeded']);
  assert.equal(outputOf(await kubectl('get deployment red-shop -o jsonpath={.spec.strategy.type}')), 'RollingUpdate');
  assert.match(outputOf(await kubectl('get service red-shop -o jsonpath={.spec.clusterIP}')), /^\d+\.\d+\.\d+\.\d+$/);
});

test('its own test runs as a pod', async () => {
  assert.match(outputOf(await helm('test red-shop --timeout 60s')), /Phase: +Succeeded/);
});

test('upgrade changes what the values say, and keeps the rest', async () => {
  const before = outputOf(await kubectl('get service red-shop -o jsonpath={.spec.clusterIP}{.metadata.uid}'));
  assert.match(outputOf(await helm(['upgrade', 'red-shop', chart, '--set', 'color=green', '--timeout', '60s'])), /REVISION: 2/);
  assert.equal(await color(), 'green');
  assert.equal(outputOf(await kubectl('get service red-shop -o jsonpath={.spec.clusterIP}{.metadata.uid}')), before);
  assert.match(outputOf(await kubectl('get deployment red-shop -o jsonpath={.spec.template.spec.containers[0].env[0].value}')), /green/);
  assert.deepEqual(await state(), ['1 superseded', '2 deployed']);
});

test('rollback brings the first values back', async () => {
  outputOf(await helm('rollback red-shop 1 --timeout 60s'));
  assert.equal(await color(), 'blue');
  assert.deepEqual(await state(), ['1 superseded', '2 superseded', '3 deployed']);
});

test('an upgrade whose object is refused says why and changes nothing', async () => {
  const refused = await helm(['upgrade', 'red-shop', chart, '--set', 'replicas=-1', '--timeout', '60s']);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /Deployment\.apps "red-shop" is invalid: spec\.replicas: Invalid value: -1: must be greater than or equal to 0/);
  assert.equal(outputOf(await kubectl('get deployment red-shop -o jsonpath={.spec.replicas}')), '0');
});

test('uninstall removes everything but the pods of hooks', async () => {
  assert.match(outputOf(await helm('uninstall red-shop --timeout 60s')), /release "red-shop" uninstalled/);
  const left = outputOf(await kubectl('get deployment,service,ingress,configmap,role,rolebinding,serviceaccount,secret -o name'));
  assert.deepEqual(left.trim().split('\n').sort(), ['configmap/kube-root-ca.crt', 'service/kubernetes', 'serviceaccount/default']);
  assert.equal(await phase('red-shop-last'), 'Succeeded');
  outputOf(await kubectl('delete pod --all'));
});
