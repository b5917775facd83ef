import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { podStartups } from '#startup/pod-startup.ts';
import { explain } from '#startup/why.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, outputOption, stringOption, UsageError } from '../command.ts';
import type { CliContext, Connection } from '../context.ts';
import { explanationLines } from '../pod-facts.ts';

export const why: Command = {
  usage: 'why [POD] [-n NS] [-o json]',
  options: { ...clusterOptions, namespace: { type: 'string', short: 'n' }, output: { type: 'string', short: 'o' } },
  async run(options, words, context) {
    const [name, ...others] = words;
    if (others.length > 0)
      throw new UsageError({ message: 'why takes one pod', hint: 'give one pod’s name, or none for every pod that is not Ready' });
    const output = outputOption(options, ['json'] as const);
    const connection = await context.connect(clusterOf(options));
    try {
      const namespace = stringOption(options, 'namespace');
      if (name === undefined) return await explainAll(namespace, output, connection, context);
      const lines = await explanationLines({ namespace: namespace ?? 'default', name }, connection.client, context);
      for (const line of output === 'json' ? [JSON.stringify({ lines })] : lines) context.print(line);
      return 0;
    } finally {
      await connection.close();
    }
  },
};

/** Every pod that is not settled; all namespaces unless one is named. */
async function explainAll(namespace: string | undefined, output: 'json' | undefined, connection: Connection, context: CliContext): Promise<0> {
  const { client } = connection;
  const [pods, records] = await Promise.all([
    client.list(podKind, { namespace }, context.signal),
    client.list(podStartups, { namespace }, context.signal),
  ]);
  const byUid = new Map(records.items.map((record) => [record.metadata.uid, record]));
  const nowMs = context.clock.now();
  const open = pods.items
    .map((pod) => ({ namespace: pod.metadata.namespace, name: pod.metadata.name, ...explain(pod, byUid.get(pod.metadata.uid), nowMs) }))
    .filter((one) => !one.isSettled);
  if (output === 'json') context.print(JSON.stringify(open));
  else if (open.length === 0) context.print('every pod is Ready or has Succeeded');
  else for (const line of open.flatMap((one) => one.lines)) context.print(line);
  return 0;
}
