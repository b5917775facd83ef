import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const [one, other] = await Promise.all([startCluster(), startCluster()]);

test('two clusters live side by side with networks of their own', async () => {
  await Promise.all([apply(one.kubectl, sleeper('same')), apply(other.kubectl, sleeper('same'))]);
  await Promise.all([waitForPod(one.kubectl, 'same'), waitForPod(other.kubectl, 'same')]);
  const [first, second] = await Promise.all([getPod(one.kubectl, 'same'), getPod(other.kubectl, 'same')]);
  assert.notEqual(first.metadata.uid, second.metadata.uid);
  const subnet = (address = '') => address.split('.').slice(0, 3).join('.');
  assert.notEqual(subnet(first.status?.podIP), subnet(second.status?.podIP));
});

test('a second data folder for a name that lives is refused, and the first is named', async () => {
  const result = await one.kubernode('up', '--data-dir', `${one.paths.dataDir}-other`);
  assert.equal(result.code, 1);
  assert.ok(result.stderr.includes(one.paths.dataDir), result.stderr);
});

test('nor does down with another data folder touch the cluster', async () => {
  const result = await one.kubernode('down', '--purge', '--data-dir', `${one.paths.dataDir}-other`);
  assert.equal(result.code, 1);
  assert.ok(result.stderr.includes(one.paths.dataDir), result.stderr);
  outputOf(await one.kubectl('exec same -- echo alive'));
});

test('the end of one cluster leaves the other alone', async () => {
  const before = await getPod(other.kubectl, 'same');
  await one.dispose();
  const after = await getPod(other.kubectl, 'same');
  assert.equal(after.status?.containerStatuses?.[0]?.containerID, before.status?.containerStatuses?.[0]?.containerID);
  assert.equal(outputOf(await other.kubectl('exec same -- echo alive')), 'alive\n');
  const audit = await one.kubernode('audit');
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
});
