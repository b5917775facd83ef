import { audit as lookAtHost } from '#cluster/audit/audit.ts';
import { type Command, clusterOptions, outputOption, stringOption } from '../command.ts';
import { tableLines } from '../table.ts';

export const audit: Command = {
  usage: 'audit [--name N] [-o json]',
  options: { ...clusterOptions, name: { type: 'string' }, output: { type: 'string', short: 'o' } },
  async run(options, _words, context) {
    const name = stringOption(options, 'name');
    const output = outputOption(options, ['json'] as const);
    const report = await lookAtHost({ name, dataDir: stringOption(options, 'data-dir') }, await context.host(), context.signal);
    if (output === 'json') context.print(JSON.stringify(report));
    else {
      if (name !== undefined && report.clusters.length === 0) context.tell(`there is no cluster ${name}`);
      const rows = report.entries.map(({ kind, object, cluster, owner }) => [kind, object, cluster ?? '-', owner ?? 'NONE']);
      if (rows.length > 0) for (const line of tableLines([['KIND', 'OBJECT', 'CLUSTER', 'OWNER'], ...rows])) context.print(line);
      context.tell(report.leftovers.length === 0 ? 'every object has an owner' : `${report.leftovers.length} objects have no owner`);
    }
    return report.leftovers.length === 0 ? 0 : 1;
  },
};
