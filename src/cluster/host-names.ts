import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { InvalidInput } from '#base/errors.ts';

/** Every host-wide name of a cluster; all of them derive from the cluster's name. */
export interface HostNames {
  readonly name: string;
  /** 8 hex digits. */
  readonly hash: string;
  readonly bridge: string;
  readonly iptablesChain: string;
  /** Below the root of each cgroup hierarchy. */
  readonly cgroupRoot: string;
  /** The same where systemd names cgroups; `-` parts names there, so it is `_`. */
  readonly sliceRoot: string;
  /** CNI network name: results and reservations on the host are found by it. */
  readonly network: string;
  /** Abstract socket whose listener owns `/run/kubernode/<name>`. */
  readonly lockSocket: string;
  readonly runDir: string;
}

/** Root's clusters are where the whole host finds them; a user without rights can have control planes of his own. */
const uid = process.getuid?.() ?? 0;
const isLinux = process.platform === 'linux';
/** Paths of sockets are short: 104 bytes on macOS, whose own temporary folders take half of that. */
const temporaryRoot = isLinux ? tmpdir() : '/tmp';
const runRoot = isLinux && uid === 0 ? '/run/kubernode' : `${temporaryRoot}/kubernode-${uid}`;

/** @throws {InvalidInput} unless the name is 1..40 characters of `[a-z0-9-]` that starts and ends with a letter or digit */
export function hostNames(name: string): HostNames {
  if (!/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new InvalidInput({
      message: `cluster name ${JSON.stringify(name)} is not 1 to 40 characters of a-z, 0-9 and "-" that start and end with a letter or digit`,
      hint: 'choose another --name',
    });
  }
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return {
    name,
    hash,
    bridge: `kn${hash}`,
    iptablesChain: `KN-${hash}`,
    cgroupRoot: `/kubernode/${name}`,
    sliceRoot: slicePath(['kubernode', name]),
    network: `kubernode-${name}`,
    lockSocket: `\0kubernode/${name}`,
    runDir: `${runRoot}/${name}`,
  };
}

/** systemd's name of a slice has those of all slices above it; `-` parts them, so inside a name it is `_`. */
export function slicePath(parts: readonly string[]): string {
  const escaped = parts.map((part) => part.replaceAll('-', '_'));
  return escaped.map((_, index) => `/${escaped.slice(0, index + 1).join('-')}.slice`).join('');
}
