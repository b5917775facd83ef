import { down as stopCluster } from '#cluster/down/down.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, UsageError } from '../command.ts';

export const down: Command = {
  usage: 'down [--name N] [--data-dir D] [--purge]',
  options: { ...clusterOptions, purge: { type: 'boolean' } },
  async run(options, words, context) {
    if (words.length > 0) throw new UsageError({ message: `down takes no words: ${words.join(' ')}`, hint: 'give the cluster’s name as --name' });
    const cluster = clusterOf(options);
    const host = await context.host();
    const { existed } = await stopCluster({ ...cluster, purge: options['purge'] === true }, host, context.tell, context.signal);
    context.tell(existed ? `cluster ${cluster.name} is down` : `there is no cluster ${cluster.name}`);
    return 0;
  },
};
