import { doctor as examine } from '#cluster/doctor/doctor.ts';
import { type Command, clusterOptions, outputOption } from '../command.ts';
import { tableLines } from '../table.ts';

export const doctor: Command = {
  usage: 'doctor [-o json]',
  options: { ...clusterOptions, output: { type: 'string', short: 'o' } },
  async run(options, _words, context) {
    const output = outputOption(options, ['json'] as const);
    const findings = await examine(await context.host(), context.signal);
    if (output === 'json') context.print(JSON.stringify(findings));
    else
      for (const line of tableLines(
        findings.map(({ check, result, detail, mend }) => [result, check, mend === undefined ? detail : `${detail}: ${mend}`]),
      ))
        context.print(line);
    return findings.some(({ result }) => result === 'bad') ? 1 : 0;
  },
};
