import { clusterStatus } from '#cluster/status.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, outputOption } from '../command.ts';
import { tableLines } from '../table.ts';

export const status: Command = {
  usage: 'status [--name N] [-o json]',
  options: { ...clusterOptions, output: { type: 'string', short: 'o' } },
  async run(options, _words, context) {
    const { name, dataDir } = clusterOf(options);
    const output = outputOption(options, ['json'] as const);
    const found = await clusterStatus(name, dataDir, await context.host(), context.signal);
    if (output === 'json') context.print(JSON.stringify({ name, state: found.state, parts: found.parts }));
    else if (found.state !== 'running')
      context.tell(found.state === 'absent' ? `there is no cluster ${name}` : `cluster ${name} is down, its data is in ${found.paths.dataDir}`);
    else {
      const rows = found.parts.map((part) => [
        part.part,
        part.isHealthy ? 'healthy' : 'unhealthy',
        String(part.pid ?? '-'),
        String(part.restarts ?? '-'),
        part.detail,
      ]);
      for (const line of tableLines([['PART', 'HEALTH', 'PID', 'RESTARTS', 'DETAIL'], ...rows])) context.print(line);
    }
    return found.state === 'running' && found.parts.every((part) => part.isHealthy) ? 0 : 1;
  },
};
