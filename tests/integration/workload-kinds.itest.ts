import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { type KubectlVersion, kubectlOf, outputOf } from '../support/kubectl.ts';

const sets = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, image: 'db:1', volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: 'agent:1'}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: main, image: 'old:1'}]}
`;

type Words = string | readonly string[];

interface Shell {
  output(words: Words, input?: string): Promise<string>;
  /** The rows of a table as lists of words, without their header. */
  rows(words: Words): Promise<readonly (readonly string[])[]>;
  refusal(words: Words, input?: string): Promise<string>;
}

function shell(kubeconfig: string, version: KubectlVersion): Shell {
  const run = kubectlOf(kubeconfig, version);
  const output = async (words: Words, input = '') => outputOf(await run(words, { input }));
  return {
    output,
    rows: async (words) =>
      (await output(words))
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.split(/\s{2,}/)),
    refusal: async (words, input = '') => {
      const { code, stderr } = await run(words, { input });
      assert.notEqual(code, 0, `kubectl ${String(words)} should have failed`);
      return stderr;
    },
  };
}

function withKubectl(version: KubectlVersion, tests: (kubectl: () => Shell) => void): void {
  describe(`kubectl ${version} with workloads`, () => {
    let api: TestApiServer;
    before(async () => {
      api = await startApiServer();
    });
    after(() => api[Symbol.asyncDispose]());
    tests(() => shell(api.kubeconfigFile, version));
  });
}

withKubectl('1.35', (kubectl) => {
  test('a deployment is created, scaled, changed and paused', async () => {
    const { output, rows, refusal } = kubectl();
    assert.equal(await output('create deployment web --image=web:1 --replicas=2'), 'deployment.apps/web created\n');
    assert.equal(await output('scale deployment web --replicas=4 --current-replicas=2'), 'deployment.apps/web scaled\n');
    assert.match(await refusal('scale deployment web --replicas=5 --current-replicas=2'), /Expected replicas to be 2, was 4/);
    assert.equal(await output('set image deployment/web web=web:2'), 'deployment.apps/web image updated\n');
    assert.equal(await output('rollout pause deployment/web'), 'deployment.apps/web paused\n');
    const [row = []] = await rows('get deploy -o wide');
    assert.deepEqual([...row.slice(0, 4), ...row.slice(5)], ['web', '0/4', '0', '0', 'web', 'web:2', 'app=web']);
  });

  test('a roll-out is over when the status says so', async () => {
    const { output } = kubectl();
    await output('rollout resume deployment/web');
    assert.match(await output('rollout history deployment/web'), /No rollout history found/);
    const generation = await output('get deployment web -o jsonpath={.metadata.generation}');
    const status = { observedGeneration: Number(generation), replicas: 4, updatedReplicas: 4, readyReplicas: 4, availableReplicas: 4 };
    await output(['patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
    assert.equal(await output('rollout status deployment/web --timeout=5s'), 'deployment "web" successfully rolled out\n');
  });

  test('an autoscaler and a budget are created for a deployment', async () => {
    const { output, rows } = kubectl();
    assert.equal(await output('autoscale deployment web --min=1 --max=5 --cpu=50%'), 'horizontalpodautoscaler.autoscaling/web autoscaled\n');
    assert.equal(await output('create pdb web --selector=app=web --min-available=50%'), 'poddisruptionbudget.policy/web created\n');
    assert.deepEqual((await rows('get pdb'))[0]?.slice(0, 4), ['web', '50%', 'N/A', '0']);
    assert.deepEqual((await rows('get hpa'))[0]?.slice(0, 6), ['web', 'Deployment/web', 'cpu: <unknown>/50%', '1', '5', '0']);
  });

  test('jobs and CronJobs are created, and one from the other', async () => {
    const { output, rows } = kubectl();
    assert.equal(await output('create job once --image=job:1 -- true'), 'job.batch/once created\n');
    const cron = ['create', 'cronjob', 'often', '--image=job:1', '--schedule=*/5 * ? * mon-fri', '--', 'true'];
    assert.equal(await output(cron), 'cronjob.batch/often created\n');
    assert.equal(await output('create job now --from=cronjob/often'), 'job.batch/now created\n');
    assert.deepEqual(
      (await rows('get jobs')).map((row) => row.slice(0, 3)),
      [
        ['now', 'Running', '0/1'],
        ['once', 'Running', '0/1'],
      ],
    );
    assert.deepEqual((await rows('get cj'))[0]?.slice(0, 6), ['often', '*/5 * ? * mon-fri', '<none>', 'False', '0', '<none>']);
  });

  test('all that runs pods is listed, described and explained', async () => {
    const { output } = kubectl();
    await output('apply -f -', sets);
    assert.deepEqual((await output('get all -o name')).trim().split('\n').sort(), [
      'cronjob.batch/often',
      'daemonset.apps/agent',
      'deployment.apps/web',
      'horizontalpodautoscaler.autoscaling/web',
      'job.batch/now',
      'job.batch/once',
      'replicationcontroller/old',
      'service/kubernetes',
      'statefulset.apps/db',
    ]);
    assert.match(await output('describe deployment web'), /StrategyType:\s+RollingUpdate\n[\s\S]*25% max unavailable, 25% max surge\n/);
    assert.match(await output('describe sts db'), /Volume Claims:\s+Name:\s+data\n/);
    assert.match(await output('describe job once'), /Parallelism:\s+1\nCompletions:\s+1\n/);
    assert.match(await output('describe hpa web'), /resource cpu on pods\s+\(as a percentage of request\):\s+<unknown> \/ 50%\n/);
    assert.match(await output('explain deployment.spec'), /FIELDS:[\s\S]*\n {2}strategy\t<DeploymentStrategy>/);
  });

  test('what cannot be is refused in a sentence', async () => {
    const { refusal } = kubectl();
    assert.equal(
      await refusal(['patch', 'deployment', 'web', '-p', '{"spec":{"selector":{"matchLabels":{"a":"b"}}}}']),
      'The Deployment "web" is invalid: \n' +
        '* spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`\n' +
        '* spec.selector: Invalid value: {"matchLabels":{"a":"b","app":"web"}}: field is immutable\n',
    );
    const cron = ['create', 'cronjob', 'never', '--image=job:1', '--schedule=* * * *', '--', 'true'];
    assert.match(await refusal(cron), /spec\.schedule: Invalid value: "\* \* \* \*": expected exactly 5 fields, found 4: \[\* \* \* \*\]/);
  });
});

withKubectl('1.20', (kubectl) => {
  test('old ways to create, scale and autoscale work', async () => {
    const { output, rows } = kubectl();
    assert.equal(await output('create deployment web --image=web:1'), 'deployment.apps/web created\n');
    assert.equal(await output('scale deployment/web --replicas=3'), 'deployment.apps/web scaled\n');
    assert.equal(await output('autoscale deployment web --max=5 --cpu-percent=70'), 'horizontalpodautoscaler.autoscaling/web autoscaled\n');
    assert.equal(await output('create job once --image=job:1 -- true'), 'job.batch/once created\n');
    assert.deepEqual((await rows('get deploy'))[0]?.slice(0, 4), ['web', '0/3', '0', '0']);
    assert.deepEqual((await rows('get hpa'))[0]?.slice(0, 6), ['web', 'Deployment/web', 'cpu: <unknown>/70%', '1', '5', '0']);
    assert.match(await output('describe deployment web'), /Replicas:\s+3 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable\n/);
  });

  test('what is applied again is left alone', async () => {
    const { output } = kubectl();
    await output('apply -f -', sets);
    const revisions = () => output('get sts,ds,rc -o jsonpath={.items[*].metadata.resourceVersion}');
    const before = await revisions();
    // Of claims kubectl knows no key, so it sends them again and says that they are configured: the server finds them as they are.
    assert.match(await output('apply -f -', sets), /daemonset\.apps\/agent unchanged\nreplicationcontroller\/old unchanged\n$/);
    assert.equal(await revisions(), before);
  });
});
