#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { AppError, Cancelled, messageOf } from '#base/errors.ts';
import { type Command, type ExitCode, UsageError } from '#cli/command.ts';
import { createCliContext } from './assembly/cli-context.ts';

/** A command's module is loaded when the command is asked for: the others cost nothing. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('#cli/commands/up.ts')).up,
  down: async () => (await import('#cli/commands/down.ts')).down,
  status: async () => (await import('#cli/commands/status.ts')).status,
  doctor: async () => (await import('#cli/commands/doctor.ts')).doctor,
  kubeconfig: async () => (await import('#cli/commands/kubeconfig.ts')).kubeconfig,
  run: async () => (await import('#cli/commands/run.ts')).run,
  startup: async () => (await import('#cli/commands/startup.ts')).startup,
  why: async () => (await import('#cli/commands/why.ts')).why,
  image: async () => (await import('#cli/commands/image.ts')).image,
  audit: async () => (await import('#cli/commands/audit.ts')).audit,
  kubelet: async () => (await import('./assembly/kubelet-command.ts')).kubelet,
};

const usage = `usage: kubernode COMMAND

  up          start a cluster, or what is missing of it
  down        stop everything that up started
  status      health of each part
  doctor      what this host lacks, with the mend for each
  kubeconfig  print the path of the admin kubeconfig
  run         apply a file and follow its pods until they are Ready
  startup     the timeline of a pod's start
  why         what a pod is doing or waiting for, and what to do about it
  image       load, list or build images on a machine without a registry
  audit       every host object of a cluster, with its owner
  kubelet     a node alone, for any API server of Kubernetes

\`kubernode COMMAND --help\` shows what a command takes.`;

async function main(words: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const [name, ...rest] = words;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(`${usage}\n`);
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined)
    throw new UsageError({ message: `there is no command ${JSON.stringify(name)}`, hint: `one of: ${Object.keys(commands).join(', ')}` });
  const command = await load();
  if (command.takesRawWords === true && !rest.some((word) => word === '--help' || word === '-h')) {
    return await command.run({}, rest, createCliContext(signal));
  }
  const { values, positionals } = parse(command, rest);
  if (values['help'] === true) {
    process.stdout.write(`usage: kubernode ${command.usage}\n`);
    return 0;
  }
  return await command.run(values, positionals, createCliContext(signal));
}

function parse(command: Command, words: readonly string[]) {
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const;
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true }) as {
      // parseArgs cannot tell types from options that it sees as a record; none of ours may be given twice
      readonly values: Readonly<Record<string, string | boolean | undefined>>;
      readonly positionals: string[];
    };
  } catch (cause) {
    throw new UsageError({ message: messageOf(cause), hint: `usage: kubernode ${command.usage}`, cause });
  }
}

function report(error: unknown): ExitCode {
  if (error instanceof Cancelled) return 130;
  const text = messageOf(error).replaceAll('\n', ' ');
  const mend = error instanceof AppError && error.hint !== undefined ? `, ${error.hint}` : '';
  process.stderr.write(`error: ${text}${mend}\n`);
  if (!(error instanceof AppError) && error instanceof Error && process.env['KUBERNODE_DEBUG'] !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return error instanceof UsageError ? 2 : 1;
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Cancelled({ message: `stopped by ${name}` })));
// A reader that has seen enough (`| head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
// Nor does work that is half done stop because nobody reads of its progress any more.
process.stderr.on('error', () => undefined);

process.exitCode = await main(process.argv.slice(2), interrupted.signal).catch(report);
