import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { toldOf } from '../events.ts';
import { outputOf } from '../kubectl.ts';
import { apply, busybox } from '../pods.ts';
import type { ClusterUnderTest } from '../start-cluster.ts';

/** One feature as a container sees it. */
export interface Row {
  readonly feature: string;
  /** What the container does to see it, in its shell. */
  readonly look: string;
  /** What that prints; lines are trimmed together, at both ends. */
  readonly sees: string | RegExp | ((pod: Pod) => string);
}

export type Looker = Readonly<Record<string, unknown>> & { readonly name: string; readonly rows: readonly Row[] };

/** A pod whose containers look about them and end. */
export interface Subject {
  readonly pod: string;
  readonly metadata?: object;
  readonly spec?: object;
  readonly containers: readonly Looker[];
}

/** A pod that does not get far, and what is said of it. */
export interface Refusal {
  readonly feature: string;
  readonly pod: string;
  readonly spec?: object;
  readonly container?: object;
  /** Of its first container that waits, or of an event about the pod, or of the pod itself when it was rejected. */
  readonly by: 'waiting' | 'event' | 'status';
  readonly reason: string;
  readonly message: string | RegExp | ((pod: Pod) => string);
}

const label = { matrix: 'yes' };

/**
 * Registers a test for each feature. The pods are made by one command; what all their containers printed is read by another when all have
 * ended, so that a table of a hundred rows costs no more than its few pods.
 */
export function matrix(title: string, cluster: ClusterUnderTest, objects: readonly object[], subjects: readonly Subject[]): void {
  describe(title, () => {
    let seen: Promise<Seen> | undefined;
    const look = () => {
      seen ??= lookAll(cluster, objects, subjects);
      return seen;
    };
    for (const subject of subjects)
      for (const { name, rows } of subject.containers)
        for (const [index, row] of rows.entries())
          test(row.feature, async () => {
            const { pods, printed } = await look();
            const pod = pods.get(subject.pod) ?? assert.fail(`no pod ${subject.pod}`);
            const text = printed.get(`${subject.pod}/${name}`)?.[index] ?? assert.fail(`${name} of ${subject.pod} said nothing: ${stateOf(pod)}`);
            compare(text, row.sees, pod);
          });
  });
}

/** Registers a test for each refusal; the pods are made by one command, and looked at beside each other. */
export function refusals(title: string, cluster: ClusterUnderTest, rows: readonly Refusal[]): void {
  describe(title, { concurrency: true }, () => {
    let made: Promise<string> | undefined;
    const make = () => {
      made ??= apply(
        cluster.kubectl,
        ...rows.map(({ pod, spec, container }) => podOf(pod, {}, { ...spec }, [{ name: 'main', ...container, rows: [] }])),
      );
      return made;
    };
    for (const row of rows)
      test(row.feature, async () => {
        await make();
        await isRefused(cluster, row);
      });
  });
}

/** The pod once it is as accepted, seen by watching. */
export async function becomes(cluster: ClusterUnderTest, name: string, accept: (pod: Pod) => boolean, seconds = 45): Promise<Pod> {
  const signal = AbortSignal.timeout(seconds * 1000);
  let last: Pod | undefined;
  try {
    for await (const one of cluster.client.watch(podKind, { namespace: 'default', fieldSelector: `metadata.name=${name}` }, signal)) {
      if (one.type === 'BOOKMARK') continue;
      last = one.object;
      if (accept(last)) return last;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return assert.fail(`pod ${name} is not as expected: ${last === undefined ? 'not there' : stateOf(last)}`);
}

interface Seen {
  readonly pods: ReadonlyMap<string, Pod>;
  /** By `pod/container`: what was printed for each row. */
  readonly printed: ReadonlyMap<string, readonly string[]>;
}

async function lookAll(cluster: ClusterUnderTest, objects: readonly object[], subjects: readonly Subject[]): Promise<Seen> {
  const made = subjects.map(({ pod, metadata = {}, spec = {}, containers }) => podOf(pod, metadata, { restartPolicy: 'Never', ...spec }, containers));
  await apply(cluster.kubectl, ...objects, ...made);
  const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const ended = await Promise.all(subjects.map(async ({ pod }) => [pod, await becomes(cluster, pod, isOver)] as const));
  const names = subjects.map(({ pod }) => pod);
  const logs = await Promise.all(names.map((name) => cluster.kubectl(['logs', name, '--all-containers', '--prefix', '--tail=-1']).then(outputOf)));
  return { pods: new Map(ended), printed: sortLines(logs.join('')) };
}

const mark = (index: number) => `=== row ${index}`;

function podOf(name: string, metadata: object, spec: object, containers: readonly Looker[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata, labels: { ...label, ...(metadata as Pod['metadata']).labels } },
    spec: { terminationGracePeriodSeconds: 1, ...spec, containers: containers.map(containerOf) },
  };
}

function containerOf({ rows, ...container }: Looker): object {
  const script = rows.map(({ look }, index) => `echo; echo '${mark(index)}'; ( ${look}\n) 2>&1`).join('\n');
  return { image: busybox, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', `${script}\nexit 0`], ...container };
}

/** Of lines like `[pod/NAME/CONTAINER] TEXT`. */
function sortLines(logs: string): ReadonlyMap<string, readonly string[]> {
  const printed = new Map<string, string[]>();
  for (const line of logs.split('\n')) {
    const [, where = '', text = ''] = /^\[pod\/(\S+)\] (.*?)\r?$/.exec(line) ?? [];
    if (where === '') continue;
    const rows = printed.get(where) ?? [];
    printed.set(where, rows);
    if (text === mark(rows.length)) rows.push('');
    else if (rows.length > 0) rows[rows.length - 1] += `${text}\n`;
  }
  return printed;
}

function compare(text: string, wanted: Row['sees'], pod: Pod): void {
  if (wanted instanceof RegExp) assert.match(text.trim(), wanted);
  else assert.equal(text.trim(), (typeof wanted === 'string' ? wanted : wanted(pod)).trim());
}

async function isRefused(cluster: ClusterUnderTest, { pod, by, reason, message }: Refusal): Promise<void> {
  const says = (one: Pod) => (typeof message === 'function' ? message(one) : message);
  if (by === 'event') {
    const wanted = says({} as Pod);
    const isIt = (text: string) => (wanted instanceof RegExp ? wanted.test(text) : text === wanted);
    await toldOf(cluster, pod, reason, isIt);
    return;
  }
  const waitsOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;
  const isTold = (one: Pod) => (by === 'status' ? one.status?.reason : waitsOf(one)?.reason) === reason;
  const told = await becomes(cluster, pod, isTold);
  compare((by === 'status' ? told.status?.message : waitsOf(told)?.message) ?? '', says(told), told);
}

function stateOf({ status }: Pod): string {
  const { phase, reason, message, containerStatuses } = status ?? {};
  return JSON.stringify({ phase, reason, message, states: containerStatuses?.map(({ name, state }) => [name, state]) });
}
