import { InvalidInput } from '#base/errors.ts';

/** What the configuration of a private containerd depends on. */
export interface RuntimeFacts {
  /** As `containerd --version` prints it. */
  readonly versionText: string;
  readonly canRaiseOomScore: boolean;
  readonly snapshotter: 'overlayfs' | 'native';
  readonly sandboxImage: string;
  /** Survives a reboot. */
  readonly root: string;
  /** Does not. */
  readonly state: string;
  readonly socket: string;
  /** State of the low-level runtime. */
  readonly runcRoot: string;
  /** Cgroups are systemd's slices and scopes; must be as the kubelet has it, or no sandbox starts. */
  readonly systemdCgroup: boolean;
  /** Where containerd would install optional programs. */
  readonly optDir: string;
  readonly cniConfigDir: string;
  readonly cniBinDirs: readonly string[];
  /** How to reach single registries, in containerd's layout: `<host>:<port>/hosts.toml`. */
  readonly registriesDir: string;
}

/**
 * The configuration file of a cluster's own containerd: version 2 of the format for 1.6 and 1.7, version 3 from 2.0 on.
 *
 * @throws {InvalidInput} for a version that is older, or that cannot be read
 */
export function runtimeConfig(facts: RuntimeFacts): string {
  const version = versionOf(facts.versionText);
  const sections = version.major === 1 ? versionTwo(facts) : versionThree(facts, version.minor);
  return `${sections
    .map(({ name, values }) =>
      [...(name === '' ? [] : [`[${name}]`]), ...Object.entries(values).map(([key, value]) => `${key} = ${toml(value)}`), ''].join('\n'),
    )
    .join('\n')}`;
}

interface Section {
  readonly name: string;
  readonly values: Readonly<Record<string, TomlValue>>;
}

type TomlValue = string | number | boolean | readonly string[];

/**
 * Plugins that nothing here uses; each costs time at every start. `runtime.v1.linux` is not among them: without it CRI silently does not
 * load on 1.6. An unknown name is no error.
 */
const unusedPlugins = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.erofs',
  'io.containerd.internal.v1.tracing',
  'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.nri.v1.nri',
];

function versionTwo(facts: RuntimeFacts): readonly Section[] {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return [
    ...daemon(facts, 2),
    { name: cri, values: { sandbox_image: facts.sandboxImage, ...criValues(facts) } },
    { name: `${cri}.registry`, values: { config_path: facts.registriesDir } },
    // Of several folders this version takes one only.
    { name: `${cri}.cni`, values: { bin_dir: facts.cniBinDirs[0] ?? '', conf_dir: facts.cniConfigDir, max_conf_num: 1 } },
    { name: `${cri}.containerd`, values: { snapshotter: facts.snapshotter, default_runtime_name: 'runc' } },
    { name: `${cri}.containerd.runtimes.runc`, values: { runtime_type: 'io.containerd.runc.v2' } },
    { name: `${cri}.containerd.runtimes.runc.options`, values: { SystemdCgroup: facts.systemdCgroup, Root: facts.runcRoot } },
  ];
}

function versionThree(facts: RuntimeFacts, minor: number): readonly Section[] {
  const runtime = `plugins."io.containerd.cri.v1.runtime"`;
  const images = `plugins."io.containerd.cri.v1.images"`;
  return [
    ...daemon(facts, 3),
    { name: images, values: { snapshotter: facts.snapshotter } },
    { name: `${images}.pinned_images`, values: { sandbox: facts.sandboxImage } },
    { name: `${images}.registry`, values: { config_path: facts.registriesDir } },
    { name: runtime, values: criValues(facts) },
    {
      name: `${runtime}.cni`,
      values: {
        ...(minor === 0 ? { bin_dir: facts.cniBinDirs[0] ?? '' } : { bin_dirs: facts.cniBinDirs }),
        conf_dir: facts.cniConfigDir,
        max_conf_num: 1,
      },
    },
    { name: `${runtime}.containerd`, values: { default_runtime_name: 'runc' } },
    { name: `${runtime}.containerd.runtimes.runc`, values: { runtime_type: 'io.containerd.runc.v2' } },
    { name: `${runtime}.containerd.runtimes.runc.options`, values: { SystemdCgroup: facts.systemdCgroup, Root: facts.runcRoot } },
  ];
}

function daemon(facts: RuntimeFacts, version: 2 | 3): readonly Section[] {
  return [
    { name: '', values: { version, root: facts.root, state: facts.state, disabled_plugins: unusedPlugins } },
    { name: 'grpc', values: { address: facts.socket } },
    { name: 'ttrpc', values: { address: `${facts.socket}.ttrpc` } },
    { name: 'plugins."io.containerd.internal.v1.opt"', values: { path: facts.optDir } },
  ];
}

function criValues(facts: RuntimeFacts): Readonly<Record<string, TomlValue>> {
  return {
    restrict_oom_score_adj: !facts.canRaiseOomScore,
    netns_mounts_under_state_dir: true,
    stream_server_address: '127.0.0.1',
    stream_server_port: '0',
    tolerate_missing_hugetlb_controller: true,
    disable_hugetlb_controller: true,
  };
}

function versionOf(text: string): { readonly major: number; readonly minor: number } {
  const match = /\bv?(\d+)\.(\d+)\.\d+/.exec(text);
  const [major, minor] = [Number(match?.[1]), Number(match?.[2])];
  if (major === 2 || (major === 1 && minor >= 6)) return { major, minor };
  throw new InvalidInput({
    message: `containerd ${JSON.stringify(text.trim())} is not one of 1.6, 1.7 or 2.x`,
    hint: 'install one of these, or give the socket of another runtime with --runtime-endpoint',
  });
}

/** JSON's forms of these are TOML's. */
function toml(value: TomlValue): string {
  return JSON.stringify(value);
}
