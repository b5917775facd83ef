import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const mi = 2 ** 20;
/** All pods together may have 300 MiB: what the host's other programs take does not matter for it. */
const keptFree = `${Math.floor(totalmem() / mi) - 300}Mi`;

const cluster = await startCluster({
  kubelet: {
    syncFrequency: '1s',
    volumeStatsAggPeriod: '1s',
    evictionHard: { 'allocatableMemory.available': keptFree },
    evictionPressureTransitionPeriod: '3s',
    enforceNodeAllocatable: ['pods'],
  },
});
const { kubectl } = cluster;

const writer = (mebibytes: number, path: string) => ({
  command: ['sh', '-c', `dd if=/dev/zero of=${path}/file bs=1M count=${mebibytes} 2>/dev/null; trap "exit 0" TERM; sleep 100000 & wait`],
});
const mounted = [{ name: 'v', mountPath: '/v' }];
const evictedOf = async (name: string) => {
  const { phase, reason, message, conditions, containerStatuses } = (await getPod(kubectl, name)).status ?? {};
  const target = conditions?.find(({ type }) => type === 'DisruptionTarget');
  return { phase, reason, message, disrupted: target?.reason, hasEnded: containerStatuses?.[0]?.state?.terminated !== undefined };
};

test('subtle 63: a pod whose emptyDir or container grows beyond its limit is evicted at the next look', async () => {
  const volumes = [{ name: 'v', emptyDir: { sizeLimit: '5Mi' } }];
  await apply(
    kubectl,
    sleeper('hoarder', { volumes }, { ...writer(20, '/v'), volumeMounts: mounted }),
    sleeper('scribe', {}, { ...writer(20, '/tmp'), resources: { limits: { 'ephemeral-storage': '5Mi' } } }),
    sleeper('modest', { volumes }, { ...writer(1, '/v'), volumeMounts: mounted }),
  );
  await Promise.all([waitForField(kubectl, 'hoarder', '{.status.phase}', 'Failed'), waitForField(kubectl, 'scribe', '{.status.phase}', 'Failed')]);
  const failed = { phase: 'Failed', reason: 'Evicted', disrupted: undefined, hasEnded: true };
  assert.deepEqual(await evictedOf('hoarder'), { ...failed, message: 'Usage of EmptyDir volume "v" exceeds the limit "5Mi". ' });
  assert.deepEqual(await evictedOf('scribe'), {
    ...failed,
    message: 'Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ',
  });
  assert.equal((await getPod(kubectl, 'modest')).status?.phase, 'Running');
  outputOf(await kubectl('delete pod hoarder scribe modest'));
});

test('memory runs out: the pod beyond its request goes, with reason, message, condition and events; the node tells its pressure', async () => {
  const volumes = [{ name: 'v', emptyDir: { medium: 'Memory' } }];
  await apply(kubectl, sleeper('small', {}, { resources: { requests: { memory: '50Mi' } } }));
  await waitForPod(kubectl, 'small');
  await apply(kubectl, sleeper('greedy', { volumes }, { ...writer(400, '/v'), volumeMounts: mounted, resources: { requests: { memory: '10Mi' } } }));
  await waitForField(kubectl, 'greedy', '{.status.phase}', 'Failed');
  const { message, ...rest } = await evictedOf('greedy');
  assert.deepEqual(rest, { phase: 'Failed', reason: 'Evicted', disrupted: 'TerminationByKubelet', hasEnded: true });
  assert.match(
    message ?? '',
    new RegExp(
      `^The node was low on resource: memory\\. Threshold quantity: ${keptFree}, available: \\d+Ki\\. ` +
        'Container main was using \\d+Ki, request is 10Mi, has larger consumption of memory\\. $',
    ),
  );
  assert.equal((await getPod(kubectl, 'small')).status?.phase, 'Running');
  const events = outputOf(
    await kubectl('get events -A --no-headers -o custom-columns=R:.reason,M:.message,O:.metadata.annotations.offending_containers'),
  );
  assert.match(events, /EvictionThresholdMet +Attempting to reclaim memory +<none>/);
  assert.match(events, /Evicted +The node was low on resource: memory\..* +main\n/);
  assert.match(events, /NodeHasInsufficientMemory/);
});

test('the pressure goes when nobody has seen it for the transition period', async () => {
  outputOf(await kubectl('wait node --all --for=condition=MemoryPressure=false --timeout=30s'));
  outputOf(await kubectl('delete pod small greedy'));
});
