import type { KubeObject } from '#api/object.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import { timelineLines } from '#startup/timeline.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, type ExitCode, numberOption, stringOption, UsageError } from '../command.ts';
import type { CliContext, Connection } from '../context.ts';
import { type FollowedPod, followStart } from '../follow-start.ts';
import { applyManifest, parseManifests } from '../manifests.ts';
import { explanationLines, startupOf } from '../pod-facts.ts';

const defaultTimeoutS = 120;

export const run: Command = {
  usage: 'run -f FILE [--timeout S] [--name N]',
  options: { ...clusterOptions, file: { type: 'string', short: 'f' }, timeout: { type: 'string' } },
  async run(options, words, context) {
    const file = stringOption(options, 'file');
    if (file === undefined || words.length > 0) throw new UsageError({ message: 'run takes one file', hint: 'give it as `-f FILE`' });
    const timeoutS = numberOption(options, 'timeout', 1, 86_400) ?? defaultTimeoutS;
    const manifests = parseManifests(await context.readFile(file), file);
    const connection = await context.connect(clusterOf(options));
    try {
      const pods: FollowedPod[] = [];
      for (const manifest of manifests) {
        const { object, verb } = await applyManifest(manifest, connection.client, context.signal);
        context.tell(`${manifest.kind.kind.toLowerCase()}/${object.metadata.name} ${verb}`);
        if (manifest.kind.kind === 'Pod') pods.push(followed(object));
      }
      let worst: ExitCode = 0;
      for (const pod of pods) worst = Math.max(worst, await followOne(pod, connection, timeoutS * 1000, context)) as ExitCode; // both are exit codes
      return worst;
    } finally {
      await connection.close();
    }
  },
};

async function followOne(pod: FollowedPod, connection: Connection, timeoutMs: number, context: CliContext): Promise<ExitCode> {
  try {
    const outcome = await followStart(pod, connection, timeoutMs, context);
    const isGood = outcome === 'ready' || outcome === 'succeeded';
    const record = await startupOf(pod, connection.client, context.signal);
    if (record !== undefined) for (const line of timelineLines(record)) context.print(line);
    if (!isGood && outcome !== 'deleted') for (const line of await explanationLines(pod, connection.client, context)) context.tell(line);
    context.print(`pod ${pod.namespace}/${pod.name} ${outcome === 'ready' ? 'is Ready' : outcome === 'deleted' ? 'was deleted' : `has ${outcome}`}`);
    return isGood ? 0 : 1;
  } catch (error) {
    if (error instanceof DeadlineExceeded) for (const line of await explanationLines(pod, connection.client, context)) context.tell(line);
    throw error;
  }
}

function followed(object: KubeObject): FollowedPod {
  return { namespace: object.metadata.namespace ?? 'default', name: object.metadata.name, uid: object.metadata.uid };
}
