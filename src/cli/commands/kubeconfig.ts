import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions } from '../command.ts';

export const kubeconfig: Command = {
  usage: 'kubeconfig [--name N] [--data-dir D]',
  options: clusterOptions,
  async run(options, _words, context) {
    context.print(await context.kubeconfigPath(clusterOf(options)));
    return 0;
  },
};
