import { NotFound } from '#base/errors.ts';
import { timelineLines } from '#startup/timeline.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, outputOption, stringOption, UsageError } from '../command.ts';
import { startupOf } from '../pod-facts.ts';

export const startup: Command = {
  usage: 'startup POD [-n NS] [-o json|wide]',
  options: { ...clusterOptions, namespace: { type: 'string', short: 'n', default: 'default' }, output: { type: 'string', short: 'o' } },
  async run(options, words, context) {
    const [name, ...others] = words;
    if (name === undefined || others.length > 0) throw new UsageError({ message: 'startup takes one pod', hint: 'give the pod’s name' });
    const output = outputOption(options, ['json', 'wide'] as const);
    const connection = await context.connect(clusterOf(options));
    try {
      const pod = { namespace: stringOption(options, 'namespace') ?? 'default', name };
      const record = await startupOf(pod, connection.client, context.signal);
      if (record === undefined)
        throw new NotFound({
          message: `no start-up record of pod ${pod.namespace}/${name}`,
          hint: 'check the name and the namespace: `kubectl get pods -A`',
        });
      for (const line of output === 'json' ? [JSON.stringify(record)] : timelineLines(record)) context.print(line);
      return 0;
    } finally {
      await connection.close();
    }
  },
};
