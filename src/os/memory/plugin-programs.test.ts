import { pluginProgramsContract } from '#os/contracts/plugin-programs.ts';
import { MemoryPluginPrograms } from './plugin-programs.ts';

pluginProgramsContract('memory', async () => ({
  programs: new MemoryPluginPrograms({
    echo: async ({ args, env, stdin }) => ({ code: 0, stdout: [args[0], env['GREETING'], stdin].join('|') }),
    failing: async () => ({ code: 3, stderr: 'no credentials here' }),
    endless: () => new Promise(() => undefined),
  }),
  echo: 'echo',
  failing: 'failing',
  endless: 'endless',
  missing: 'missing',
}));
