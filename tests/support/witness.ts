import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCluster } from '#testing/create-cluster.ts';
import { busybox, sleeper } from './pods.ts';

/** Sleeps until it is told to end. */
export const untilTold = 'trap "exit 0" TERM; sleep 100000 & wait';

/** A folder of the host that pods write to and read from: what the containers themselves saw and did, whatever anybody says of them. */
export interface Witness {
  /** A container that says its name there, in the file of its pod (`$W`), and then does its work. */
  container(pod: string, name: string, script?: string, more?: object): object;
  /** A pod whose container `main` is such a one. */
  pod(name: string, spec?: object, script?: string, container?: object): object;
  /** What the containers of the pod have said, in order. */
  said(pod: string): Promise<readonly string[]>;
  /** Makes the file `<pod>.<name>`, on which a container may wait: `$W.<name>`. */
  give(pod: string, name: string): Promise<void>;
}

export async function startWitness(cluster: TestCluster): Promise<Witness> {
  const folder = `${cluster.paths.dataDir}/witness`;
  await mkdir(folder, { recursive: true });
  const volume = { name: 'witness', hostPath: { path: folder } };
  const container = (pod: string, name: string, script = untilTold, more: object = {}) => ({
    name,
    image: busybox,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `echo ${name} >> $W; ${script}`],
    env: [{ name: 'W', value: `/witness/${pod}` }],
    volumeMounts: [{ name: 'witness', mountPath: '/witness' }],
    ...more,
  });
  return {
    container,
    pod: (name, spec = {}, script = untilTold, more = {}) => sleeper(name, { volumes: [volume], ...spec }, container(name, 'main', script, more)),
    said: async (pod) =>
      (await readFile(`${folder}/${pod}`, 'utf8').catch(() => ''))
        .trim()
        .split('\n')
        .filter((line) => line !== ''),
    give: (pod, name) => writeFile(`${folder}/${pod}.${name}`, ''),
  };
}

/** For what no watch of the API can tell. */
export async function until(what: string, isSo: () => Promise<boolean>, seconds = 30): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not within ${seconds} s: ${what}`);
    await sleep(30);
  }
}
