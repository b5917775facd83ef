import { resolve } from 'node:path';
import { InvalidInput } from '#base/errors.ts';
import type { CredentialProviderPaths, StoreSettings } from '#cluster/settings.ts';
import { up as startCluster } from '#cluster/up/up.ts';
import { clusterOf } from '../choice.ts';
import { type Command, clusterOptions, numberOption, type OptionValues, stringOption, UsageError } from '../command.ts';
import type { CliContext } from '../context.ts';

export const up: Command = {
  usage:
    'up [--name N] [--data-dir D] [--port P] [--api-only] [--store sqlite] [--runtime-endpoint unix:///..] [--pod-cidr C] [--cni-config-dir D] [--kubelet-config FILE] [--image-credential-provider-config FILE --image-credential-provider-bin-dir D] [--timing NAME=MS,..] [--foreground]',
  options: {
    ...clusterOptions,
    port: { type: 'string' },
    store: { type: 'string' },
    'runtime-endpoint': { type: 'string' },
    'pod-cidr': { type: 'string' },
    'cni-config-dir': { type: 'string' },
    'node-name': { type: 'string' },
    'kubelet-config': { type: 'string' },
    'image-credential-provider-config': { type: 'string' },
    'image-credential-provider-bin-dir': { type: 'string' },
    timing: { type: 'string' },
    'api-only': { type: 'boolean' },
    foreground: { type: 'boolean' },
  },
  async run(options, words, context) {
    if (words.length > 0) throw new UsageError({ message: `up takes no words: ${words.join(' ')}`, hint: 'give the cluster’s name as --name' });
    const { name, dataDir } = clusterOf(options);
    const host = await context.host();
    const kubeletFile = stringOption(options, 'kubelet-config');
    const result = await startCluster(
      {
        name,
        dataDir,
        port: numberOption(options, 'port', 0, 65_535),
        apiOnly: options['api-only'] === true ? true : undefined,
        runtimeEndpoint: stringOption(options, 'runtime-endpoint'),
        podCIDR: stringOption(options, 'pod-cidr'),
        cniConfigDir: stringOption(options, 'cni-config-dir'),
        nodeName: stringOption(options, 'node-name'),
        store: storeOf(options),
        timings: await timingsOf(options, context),
        kubelet: kubeletFile === undefined ? undefined : await context.readKubeletConfiguration(kubeletFile),
        credentialProviders: await credentialProvidersOf(options, context),
        programs: context.programs,
      },
      host,
      context.tell,
      context.signal,
    );
    context.tell(`cluster ${name} is up: ${result.server}`);
    const flag = name === 'default' ? '' : ` --name ${name}`;
    context.tell(`  use it:  export KUBECONFIG=${result.kubeconfig}`);
    context.tell(`  stop it: ${context.programName} down${flag}`);
    if (options['foreground'] === true) await context.untilInterrupted();
    return 0;
  },
};

/** The kubelet reads them again whenever it starts, so their paths must not depend on where the command ran. */
async function credentialProvidersOf(options: OptionValues, context: CliContext): Promise<CredentialProviderPaths | undefined> {
  const [config, bin] = ['image-credential-provider-config', 'image-credential-provider-bin-dir'].map((name) => stringOption(options, name));
  if (config === undefined && bin === undefined) return undefined;
  if (config === undefined || bin === undefined) {
    throw new UsageError({
      message: 'one of --image-credential-provider-config and --image-credential-provider-bin-dir is missing',
      hint: 'give both: the configuration, and the folder of its plugins',
    });
  }
  const paths = { configPath: resolve(config), directory: resolve(bin) };
  await context.checkCredentialProviders(paths.configPath, paths.directory);
  return paths;
}

function storeOf(options: OptionValues): StoreSettings | undefined {
  const kind = stringOption(options, 'store');
  if (kind === undefined || kind === 'sqlite') return kind === undefined ? undefined : { kind };
  if (kind === 'etcd') throw new InvalidInput({ message: '--store etcd: this version has no store on etcd', hint: 'use --store sqlite' });
  throw new UsageError({ message: `--store ${JSON.stringify(kind)} is not a store`, hint: 'use --store sqlite' });
}

/** @throws {UsageError} for a name that no part knows: it would have no effect */
async function timingsOf(options: OptionValues, context: CliContext): Promise<Readonly<Record<string, number>> | undefined> {
  const text = stringOption(options, 'timing');
  if (text === undefined) return undefined;
  const known = await context.timingNames();
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      if (!/^\d+$/.test(value))
        throw new UsageError({ message: `--timing ${JSON.stringify(pair)}`, hint: 'give NAME=MILLISECONDS, several joined by commas' });
      if (!known.includes(name)) throw new UsageError({ message: `--timing has no ${JSON.stringify(name)}`, hint: `one of: ${known.join(', ')}` });
      return [name, Number(value)];
    }),
  );
}
