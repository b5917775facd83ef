import { NotFound } from '#base/errors.ts';
import { buildImage } from '#cluster/images/build-image.ts';
import { listImages, loadImage } from '#cluster/images/cluster-images.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, type OptionValues, outputOption, stringOption, UsageError } from '../command.ts';
import type { CliContext } from '../context.ts';
import { tableLines } from '../table.ts';

export const image: Command = {
  usage: 'image load FILE.tar | image list [-o json] | image build -t NAME [--busybox] [--command WORDS] [--to FILE.tar] FROM=/TO ...   [--name N]',
  options: {
    ...clusterOptions,
    output: { type: 'string', short: 'o' },
    tag: { type: 'string', short: 't' },
    to: { type: 'string' },
    command: { type: 'string' },
    busybox: { type: 'boolean' },
  },
  async run(options, words, context) {
    const [verb, ...rest] = words;
    switch (verb) {
      case 'load':
        return await load(options, rest, context);
      case 'list':
        return await list(options, rest, context);
      case 'build':
        return await build(options, rest, context);
      default:
        throw new UsageError({ message: verb === undefined ? 'image needs a verb' : `image has no verb ${verb}`, hint: 'use load, list or build' });
    }
  },
};

async function load(options: OptionValues, words: readonly string[], context: CliContext): Promise<0> {
  const [file, ...others] = words;
  if (file === undefined || others.length > 0) throw new UsageError({ message: 'image load takes one file', hint: 'give an OCI or Docker archive' });
  const host = await context.host();
  const archive = await host.files.readBytes(file);
  if (archive === undefined) throw new NotFound({ message: `there is no file ${file}`, hint: 'give an OCI or Docker archive' });
  for (const name of await loadImage(clusterOf(options), archive, host, context.signal)) context.print(name);
  return 0;
}

async function list(options: OptionValues, words: readonly string[], context: CliContext): Promise<0> {
  if (words.length > 0) throw new UsageError({ message: `image list takes no words: ${words.join(' ')}`, hint: 'give the cluster’s name as --name' });
  const output = outputOption(options, ['json'] as const);
  const images = await listImages(clusterOf(options), await context.host(), context.signal);
  if (output === 'json') context.print(JSON.stringify(images));
  else {
    const rows = images.map(({ names, id, sizeBytes }) => [
      names.join(',') || '-',
      id.replace('sha256:', '').slice(0, 12),
      `${Math.ceil(sizeBytes / 1024)} KiB`,
    ]);
    for (const line of tableLines([['NAMES', 'ID', 'SIZE'], ...rows])) context.print(line);
  }
  return 0;
}

/** Into a file when `--to` is given, else into the cluster. */
async function build(options: OptionValues, words: readonly string[], context: CliContext): Promise<0> {
  const name = stringOption(options, 'tag');
  const to = stringOption(options, 'to');
  if (name === undefined) throw new UsageError({ message: 'image build needs a name', hint: 'give it as `-t NAME`' });
  const copies = words.map((word) => {
    const [from = '', inImage = ''] = word.split('=');
    if (from === '' || !inImage.startsWith('/'))
      throw new UsageError({ message: `${JSON.stringify(word)} says not what to copy where`, hint: 'give FROM=/TO' });
    return { from, to: inImage };
  });
  const host = await context.host();
  const command = stringOption(options, 'command')?.split(' ') ?? [];
  const config = { entrypoint: [], command, environment: [], workingDir: '/', user: '' };
  const archive = await buildImage({ name, copies, onBusybox: options['busybox'] === true, config }, host, context.signal);
  if (to !== undefined) await host.files.write(to, archive, 0o644);
  else for (const loaded of await loadImage(clusterOf(options), archive, host, context.signal)) context.print(loaded);
  return 0;
}
