/**
 * What we add to the container runtime's own time, every ratio measured in one run on one machine, floor and ours in turn (A B B A).
 *
 * usage: npm run bench [-- --json] [-- --pairs N] [-- --burst N]
 */
import { parseArgs } from 'node:util';
import { createCluster, type TestCluster } from '#testing/create-cluster.ts';
import { Floor, type PodMessages, type RawPod } from './floor.ts';
import { memoryOf } from './memory.ts';
import { Ours } from './ours.ts';
import { type Comparison, compare, figuresOf, round } from './stats.ts';
import { measureApiOnly, measureUp } from './up.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, pairs: { type: 'string', default: '100' }, burst: { type: 'string', default: '50' } },
});
const pairs = Number(values.pairs);
const burstSize = Number(values.burst);
const say = (line: string) => process.stderr.write(`${line}\n`);

interface Series {
  readonly start: Comparison;
  readonly crash: Comparison;
  readonly delete: Comparison;
}

/** One pod at a time: start, crash once, delete; ours and the floor's in turn. */
async function serial(floor: Floor, ours: Ours, template: PodMessages, count: number): Promise<Series> {
  const floorMs = { start: [] as number[], crash: [] as number[], delete: [] as number[] };
  const oursMs = { start: [] as number[], crash: [] as number[], delete: [] as number[] };
  const runFloor = async () => {
    const started = await floor.start(template);
    const crashed = await floor.crash(started.pod);
    floorMs.start.push(started.tookMs);
    floorMs.crash.push(crashed.tookMs);
    floorMs.delete.push((await floor.remove(crashed.pod)).tookMs);
  };
  const runOurs = async () => {
    const { pod, tookMs } = await ours.start();
    const containerId = pod.status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, '') ?? '';
    const crashed = await ours.crash(pod, await floor.pidOf(containerId));
    oursMs.start.push(tookMs);
    oursMs.crash.push(crashed.tookMs);
    oursMs.delete.push((await ours.remove(pod)).tookMs);
  };
  for (let pair = 0; pair < count; pair += 2) {
    for (const run of [runFloor, runOurs, runOurs, runFloor]) await run();
    if (pair % 20 === 0) say(`  ${pair + 2} of ${count} pairs`);
  }
  return {
    start: compare(floorMs.start, oursMs.start),
    crash: compare(floorMs.crash, oursMs.crash),
    delete: compare(floorMs.delete, oursMs.delete),
  };
}

/** Milliseconds a pod, over all pods of the burst; one figure, so the median is the p99. */
interface Burst extends Comparison {
  readonly floorPodsPerSecond: number;
  readonly floorConcurrency: number;
  readonly oursPodsPerSecond: number;
  /** Ours over the floor: 1 and more is as fast as the runtime alone. */
  readonly rateRatio: number;
}

async function burst(floor: Floor, ours: Ours, template: PodMessages, count: number): Promise<Burst> {
  const rate = (startedAt: number) => round((count * 1000) / (performance.now() - startedAt));
  let best = { rate: 0, concurrency: 0 };
  for (const concurrency of [2, 4, 8, 16]) {
    const pods: RawPod[] = [];
    const startedAt = performance.now();
    let left = count;
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left-- > 0) pods.push((await floor.start(template)).pod);
      }),
    );
    const reached = rate(startedAt);
    say(`  the runtime alone, ${concurrency} at once: ${reached} pods/s`);
    if (reached > best.rate) best = { rate: reached, concurrency };
    for (const pod of pods) await floor.remove(pod);
  }
  const startedAt = performance.now();
  const started = await Promise.all(Array.from({ length: count }, () => ours.start()));
  const oursRate = rate(startedAt);
  await Promise.all(started.map(({ pod }) => ours.remove(pod)));
  return {
    ...compare([1000 / best.rate], [1000 / oursRate]),
    pairs: count,
    floorPodsPerSecond: best.rate,
    floorConcurrency: best.concurrency,
    oursPodsPerSecond: oursRate,
    rateRatio: round(oursRate / best.rate),
  };
}

function show(name: string, { pairs: count, floorMs, oursMs, ratio }: Comparison): void {
  say(
    `${name.padEnd(8)} floor ${floorMs.median} ms (p99 ${floorMs.p99}), ours ${oursMs.median} ms (p99 ${oursMs.p99}), ratio ${ratio.median} (p99 ${ratio.p99}), ${count} pairs`,
  );
}

async function measure(cluster: TestCluster) {
  const floor = new Floor(`unix://${cluster.paths.containerdSocket}`);
  const ours = new Ours(cluster);
  try {
    const idle = await memoryOf(cluster);
    const template = (await ours.start()).pod;
    const messages = await floor.messagesOf(template);
    say('one pod at a time');
    await serial(floor, ours, messages, 4); // both sides warm
    const series = await serial(floor, ours, messages, pairs);
    for (const [name, comparison] of Object.entries(series)) show(name, comparison);
    say(`${burstSize} pods at once`);
    const burstFigures = await burst(floor, ours, messages, burstSize);
    say(
      `burst    floor ${burstFigures.floorPodsPerSecond} pods/s (${burstFigures.floorConcurrency} at once), ours ${burstFigures.oursPodsPerSecond} pods/s, ratio ${burstFigures.rateRatio}`,
    );
    await ours.remove(template);
    const memory = { idle, afterwards: await memoryOf(cluster) };
    for (const [when, { oursMiB, parts, runtimeMiB }] of Object.entries(memory)) {
      const each = Object.entries(parts).map(([part, mib]) => `${part} ${mib}`);
      say(`memory   ${when}: ${oursMiB} MiB (${each.join(', ')}), beside it the runtime ${runtimeMiB} MiB`);
    }
    return { ...series, burst: burstFigures, memory };
  } finally {
    await ours.close();
    floor.close();
  }
}

const upMs = await measureUp(3);
say(`up       containerd alone ${figuresOf(upMs.floor).median} ms, ours ${figuresOf(upMs.ours).median} ms`);
const apiOnlyMs = await measureApiOnly(5);
say(`api-only Node.js three times ${figuresOf(apiOnlyMs.floor).median} ms, ours ${figuresOf(apiOnlyMs.ours).median} ms`);
const cluster = await createCluster();
try {
  const result = { ...(await measure(cluster)), up: compare(upMs.floor, upMs.ours), apiOnly: compare(apiOnlyMs.floor, apiOnlyMs.ours) };
  if (values.json) console.log(JSON.stringify(result));
} finally {
  await cluster.dispose();
}
